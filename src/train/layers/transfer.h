// Copies between the devices of one model.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "src/train/layers/layers.h"
#include "src/train/ops/device_queue.h"

namespace recpack::train {

// Returns `context` for the device of `queue`.
inline ModelContext On(DeviceQueue& queue, ModelContext context) {
  context.ops = &queue.ops();
  return context;
}

struct TransferAccount {
  uint64_t calls = 0;
  uint64_t bytes = 0;
  double seconds = 0;  // time of copying, without waiting for the source
  double shortest = 0, longest = 0;

  double average() const { return calls == 0 ? 0 : seconds / static_cast<double>(calls); }
};

// Statistics of all transfers of a model. Thread-safe.
class TransferLog {
 public:
  void Add(uint64_t bytes, double seconds);
  // Returns the statistics since the last call.
  TransferAccount Take();

 private:
  std::mutex mutex_;
  TransferAccount account_;
};

// Copies from one device to another; each copy runs after the work enqueued before it on both
// queues.
class Transfer {
 public:
  Transfer(DeviceQueue& from, DeviceQueue& to, TransferLog& log)
      : from_(from), to_(to), log_(log) {}

  // The memory must stay valid and unchanged until the queues are joined.
  void Move(const void* from, void* to, size_t bytes);

 private:
  DeviceQueue& from_;
  DeviceQueue& to_;
  TransferLog& log_;
  std::vector<uint8_t> host_;  // staging buffer, unless the source is in host memory
  double download_seconds_ = 0;
};

// Passes an activation from the operation that writes it to the one that reads it: the same memory
// if both are on one device, else a copy whose gradient is copied back.
class ActivationLink {
 public:
  ActivationLink(DeviceQueue& from, DeviceQueue& to, TransferLog& log)
      : moves_(&from != &to),
        there_(from, to, log),
        back_(to, from, log),
        more_back_(to, from, log) {}

  // Called on the reader's device. `source`: already built, not owned.
  void Build(const ModelContext& context, Activations& source);
  // Called on the writer's device, after Build(). `more`: a further part of the gradient, as large
  // and on the reader's device, that Backward() copies as well; null: none.
  void BuildMore(const ModelContext& context, const void* more);
  void Forward();
  void Backward();
  // The reader's view.
  Activations& here() noexcept { return moves_ ? copy_ : *source_; }
  // The writer's view of `more`.
  const void* more() const noexcept { return moves_ ? more_copy_.data() : more_; }

 private:
  const bool moves_;
  Transfer there_, back_, more_back_;
  Activations* source_ = nullptr;
  Activations copy_;
  const void* more_ = nullptr;
  DeviceArray more_copy_;
};

// Passes an array of the batch from the device that holds the batch.
class InputLink {
 public:
  InputLink(DeviceQueue& from, DeviceQueue& to, TransferLog& log)
      : moves_(&from != &to), there_(from, to, log) {}

  // Called on the reader's device.
  void Build(const ModelContext& context, size_t bytes);
  // The address for the reader.
  const void* Forward(const void* array);

 private:
  const bool moves_;
  Transfer there_;
  size_t bytes_ = 0;
  DeviceArray copy_;
};

// Loss sums that one operation writes on its device, for a model whose sums are on the first one.
class PlacedSums {
 public:
  explicit PlacedSums(DeviceQueue& queue) : queue_(queue) {}

  void Build();
  // Enqueues that the sums become 0, and returns them; `whole`, unchanged, unless Build() was
  // called.
  LossSums* Begin(LossSums* whole);
  // Waits for the work enqueued before.
  LossSums Read();

 private:
  DeviceQueue& queue_;
  DeviceArray memory_;
};

}  // namespace recpack::train
