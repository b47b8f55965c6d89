#include "src/train/replicated.h"

#include <chrono>
#include <span>
#include <utility>

#include "src/train/seconds.h"

namespace recpack {

Replicated::Replicated(const OptimizerOptions& options, std::unique_ptr<Collective> collective,
                       size_t bucket_elements)
    : OwnVariables(options),
      collective_(std::move(collective)),
      bucket_elements_(bucket_elements) {}

Replicated::~Replicated() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Replicated::Start(Ops& ops, Variables& variables) {
  OwnVariables::Start(ops, variables);
  buckets_ = BucketsOf(variables, bucket_elements_);
  bucket_of_ = BucketOfVariable(variables, buckets_);
  Share(variables.trained(), variables.trained_size());
  Share(variables.statistics(), variables.statistics_size());
  summed_ = buckets_.size();
  thread_ = std::thread([this] { SumBuckets(); });
}

void Replicated::Share(float* values, size_t count) {
  collective_->Broadcast(std::as_writable_bytes(std::span(values, count)), 0);
}

void Replicated::BeginStep(double rate) {
  rate_ = rate;
  const std::lock_guard lock(mutex_);
  missing_.clear();
  for (const Bucket& bucket : buckets_) missing_.push_back(bucket.variables.size());
  summed_ = 0;
}

void Replicated::Ready(size_t variable) {
  const std::lock_guard lock(mutex_);
  if (--missing_[bucket_of_[variable]] == 0) changed_.notify_all();
}

// Buckets go in their order on every device, whichever is whole first.
void Replicated::SumBuckets() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock,
                  [&] { return ended_ || (summed_ < buckets_.size() && missing_[summed_] == 0); });
    if (ended_) return;
    const Bucket& bucket = buckets_[summed_];
    lock.unlock();
    try {
      collective_->AllReduce({variables_->gradients() + bucket.begin, bucket.end - bucket.begin});
    } catch (...) {
      lock.lock();
      failure_ = std::current_exception();
      changed_.notify_all();
      return;
    }
    lock.lock();
    ++summed_;
    changed_.notify_all();
  }
}

void Replicated::EndStep() {
  const auto begin = std::chrono::steady_clock::now();
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failure_ || summed_ == buckets_.size(); });
    if (failure_) std::rethrow_exception(failure_);
  }
  account_.calls += buckets_.size();
  account_.bytes += variables_->trained_size() * sizeof(float);
  account_.waited += SecondsSince(begin);
  UpdateAll();
}

}  // namespace recpack
