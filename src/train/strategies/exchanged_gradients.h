// A device's gradients on their way to those of others.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "src/train/ops/exchange_stream.h"
#include "src/train/strategies/buckets.h"

namespace recpack::train {

// Where they are summed: in the device's own memory, or in the host's, which for a CPU device is
// the same. Those of other devices are brought beside the work of their Ops. "The exchange": one
// thread besides that of the Ops.
class ExchangedGradients {
 public:
  // Outlived by all it names. The thread of the Ops.
  ExchangedGradients(Ops& ops, const Variables& variables, std::vector<Bucket> buckets);

  const std::vector<Bucket>& buckets() const noexcept { return buckets_; }

  // The thread of the Ops: the gradients of the bucket are enqueued, or captured.
  void Ready(size_t bucket);

  // The exchange, once all variables of the bucket are ready: its gradients in the host's memory,
  // among all() of them; and back from there.
  std::span<float> Fetch(size_t bucket);
  void Return(size_t bucket);
  float* all() const noexcept { return host_; }

  // The exchange, of a device with a stream: copies the first `count` of them to memory of a
  // device, and returns when they are there.
  void CopyTo(size_t bucket, float* to, size_t count);

  // The exchange, for sums in the device's memory, which are enqueued on stream().
  std::span<float> Await(size_t bucket);
  DeviceStream stream() const noexcept { return beside_ ? beside_->Stream() : nullptr; }

  // The thread of the Ops, once the exchange is over: what it is given next sees the result.
  void Join();

 private:
  std::span<float> In(float* array, size_t bucket) const;

  const Variables& variables_;
  const std::vector<Bucket> buckets_;
  std::shared_ptr<void> memory_;            // before what copies to it
  std::unique_ptr<ExchangeStream> beside_;  // null: all is in the host's memory, and done at once
  float* host_ = nullptr;                   // memory_, from the first Fetch() on, or the gradients
};

}  // namespace recpack::train
