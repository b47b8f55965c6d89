// Moves a device's gradients between its memory and the place where they are summed.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "src/train/ops/exchange_stream.h"
#include "src/train/strategies/buckets.h"

namespace recpack::train {

// Gradients are summed in device memory or in host memory, which for a CPU device are the same.
// Copies run beside the work of the Ops. "Exchange thread": the one other thread that uses this
// object.
class ExchangedGradients {
 public:
  // Ops thread. All arguments must outlive this object.
  ExchangedGradients(Ops& ops, const Variables& variables, std::vector<Bucket> buckets);

  const std::vector<Bucket>& buckets() const noexcept { return buckets_; }

  // Ops thread. The gradients of the bucket have been enqueued, or captured.
  void Ready(size_t bucket);

  // Exchange thread, once all variables of the bucket are ready. Fetch() returns its gradients in
  // host memory, within all(); Return() copies them back.
  std::span<float> Fetch(size_t bucket);
  void Return(size_t bucket);
  float* all() const noexcept { return host_; }

  // Exchange thread, for a device with a stream. Copies the first `count` gradients to memory of a
  // device; returns when they have arrived.
  void CopyTo(size_t bucket, float* to, size_t count);

  // Exchange thread, for sums in device memory that are enqueued on stream().
  std::span<float> Await(size_t bucket);
  DeviceStream stream() const noexcept { return beside_ ? beside_->Stream() : nullptr; }

  // Ops thread, after the exchange: later work of the Ops sees the result.
  void Join();

 private:
  std::span<float> In(float* array, size_t bucket) const;

  const Variables& variables_;
  const std::vector<Bucket> buckets_;
  // declared before (destroyed after) the stream that copies to it
  std::shared_ptr<void> memory_;
  std::unique_ptr<ExchangeStream> beside_;  // null: everything is in host memory and synchronous
  // memory_ after the first Fetch(), or the gradients themselves
  float* host_ = nullptr;
};

}  // namespace recpack::train
