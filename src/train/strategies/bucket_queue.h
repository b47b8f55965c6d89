// What strategies do with gradients while the backward pass goes on.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "src/train/strategies/exchanged_gradients.h"

namespace recpack::train {

// Hands each bucket of a step, once all its gradients are there, to a thread of its own. Buckets go
// in their order on every device, whichever is whole first.
class BucketQueue {
 public:
  using Work = std::function<void(size_t bucket)>;
  // Of the thread of `ops`, which holds all variables, and which calls the rest.
  BucketQueue(Ops& ops, const Variables& variables, size_t bucket_elements, Work work);
  ~BucketQueue();  // what `work` waits for has ended by then

  const std::vector<Bucket>& buckets() const noexcept { return gradients_.buckets(); }
  // `work` is the exchange that they speak of.
  ExchangedGradients& gradients() noexcept { return gradients_; }

  void BeginStep();
  // As VariableStrategy has them: they may be captured. What a replay of them makes whole is handed
  // on by EndStep().
  void BeginBackward();
  void Ready(size_t variable);
  // Waits for the step's last bucket, but not for what `work` enqueued: that comes before all that
  // the Ops is given next. Returns the seconds that took. Throws what `work` threw.
  double EndStep();

 private:
  void Run();

  const Ops& ops_;
  ExchangedGradients gradients_;
  const std::vector<size_t> bucket_of_;
  const Work work_;
  std::vector<size_t> missing_;  // by bucket: variables that this backward pass has not made ready
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> whole_;  // by bucket: its gradients were enqueued in this step
  size_t done_ = 0;          // buckets of this step
  bool ended_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace recpack::train
