// Exchanges gradient buckets on a background thread during the backward pass.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "src/train/strategies/exchanged_gradients.h"

namespace recpack::train {

// Passes each bucket of a step, once all its gradients are enqueued, to a background thread. Every
// device processes buckets in the same order, whichever is complete first.
class BucketQueue {
 public:
  using Work = std::function<void(size_t bucket)>;
  // `ops` holds all variables. All other members are called on its thread.
  BucketQueue(Ops& ops, const Variables& variables, size_t bucket_elements, Work work);
  ~BucketQueue();  // `work` must no longer block

  const std::vector<Bucket>& buckets() const noexcept { return gradients_.buckets(); }
  // `work` is the exchange thread of these gradients.
  ExchangedGradients& gradients() noexcept { return gradients_; }

  void BeginStep();
  // As in VariableStrategy; they may be captured. EndStep() passes on the buckets that a replay
  // completes.
  void BeginBackward();
  void Ready(size_t variable);
  // Waits for the step's last bucket, but not for what `work` enqueued on the device, which
  // precedes all later work of the Ops. Returns the seconds it took. Rethrows what `work` threw.
  double EndStep();

 private:
  void Run();

  const Ops& ops_;
  ExchangedGradients gradients_;
  const std::vector<size_t> bucket_of_;
  const Work work_;
  std::vector<size_t> missing_;  // per bucket: variables that this backward pass has not made ready
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> whole_;  // per bucket: all gradients are enqueued in this step
  size_t done_ = 0;          // buckets finished in this step
  bool ended_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace recpack::train
