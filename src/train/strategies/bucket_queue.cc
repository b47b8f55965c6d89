#include "src/train/strategies/bucket_queue.h"

#include <chrono>
#include <utility>

#include "recpack/base/start_thread.h"
#include "src/train/ops/seconds.h"
#include "src/train/ops/step_events.h"

namespace recpack::train {

BucketQueue::BucketQueue(Ops& ops, const Variables& variables, size_t bucket_elements, Work work)
    : ops_(ops),
      gradients_(ops, variables, MakeBuckets(variables, bucket_elements)),
      bucket_of_(BucketOfVariable(variables, buckets())),
      work_(std::move(work)),
      done_(buckets().size()) {
  thread_ = StartThread([this] { Run(); });
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
  whole_.assign(buckets().size(), false);
  done_ = 0;
}

void BucketQueue::BeginBackward() {
  missing_.clear();
  missing_.reserve(buckets().size());
  for (const Bucket& bucket : buckets()) missing_.push_back(bucket.variables.size());
}

void BucketQueue::Ready(size_t variable) {
  const size_t bucket = bucket_of_[variable];
  if (--missing_[bucket] > 0) return;
  gradients_.Ready(bucket);
  if (ops_.Capturing()) return;  // whole when that is replayed
  const std::lock_guard lock(mutex_);
  whole_[bucket] = true;
  changed_.notify_all();
}

void BucketQueue::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ended_ || (done_ < buckets().size() && whole_[done_]); });
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
  whole_.assign(buckets().size(), true);  // by the replay
  changed_.notify_all();
  changed_.wait(lock, [&] { return failure_ || done_ == buckets().size(); });
  if (failure_) std::rethrow_exception(failure_);
  gradients_.Join();
  return SecondsSince(begin);
}

}  // namespace recpack::train
