#include "src/train/bucket_queue.h"

#include <chrono>
#include <utility>

#include "src/train/seconds.h"
#include "src/train/step_events.h"

namespace recpack {

BucketQueue::BucketQueue(Ops& ops, const Variables& variables, size_t bucket_elements, Work work)
    : gradients_(ops, variables, BucketsOf(variables, bucket_elements)),
      bucket_of_(BucketOfVariable(variables, buckets())),
      work_(std::move(work)),
      done_(buckets().size()) {
  thread_ = std::thread([this] { Run(); });
}

BucketQueue::~BucketQueue() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BucketQueue::BeginStep() {
  const std::lock_guard lock(mutex_);
  missing_.clear();
  for (const Bucket& bucket : buckets()) missing_.push_back(bucket.variables.size());
  done_ = 0;
}

void BucketQueue::Ready(size_t variable) {
  gradients_.Ready(bucket_of_[variable]);
  const std::lock_guard lock(mutex_);
  if (--missing_[bucket_of_[variable]] == 0) changed_.notify_all();
}

void BucketQueue::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock,
                  [&] { return ended_ || (done_ < buckets().size() && missing_[done_] == 0); });
    if (ended_) return;
    const size_t bucket = done_;
    lock.unlock();
    try {
      work_(bucket);
    } catch (...) {
      lock.lock();
      failure_ = std::current_exception();
      changed_.notify_all();
      return;
    }
    lock.lock();
    ++done_;
    changed_.notify_all();
  }
}

double BucketQueue::EndStep() {
  const ExchangeWaitSpan span;
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failure_ || done_ == buckets().size(); });
  if (failure_) std::rethrow_exception(failure_);
  gradients_.Join();
  return SecondsSince(begin);
}

}  // namespace recpack
