// Copies from one device's memory to another's, within one model.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "src/train/ops/device_queue.h"
#include "src/train/ops/layers.h"

namespace recpack::train {

// `context`, on the device of `queue`.
inline ModelContext On(DeviceQueue& queue, ModelContext context) {
  context.ops = &queue.ops();
  return context;
}

struct TransferAccount {
  uint64_t calls = 0;
  uint64_t bytes = 0;
  double seconds = 0;  // of copying, without waiting for what is copied
  double shortest = 0, longest = 0;

  double average() const { return calls == 0 ? 0 : seconds / static_cast<double>(calls); }
};

// Of all transfers of a model. Used by any thread.
class TransferLog {
 public:
  void Add(uint64_t bytes, double seconds);
  // What came since the last call.
  TransferAccount Take();

 private:
  std::mutex mutex_;
  TransferAccount account_;
};

// From a device to another, each behind the work that was given to its queue before.
class Transfer {
 public:
  Transfer(DeviceQueue& from, DeviceQueue& to, TransferLog& log)
      : from_(from), to_(to), log_(log) {}

  // Of memory of the devices that stays as it is until the queues were joined.
  void Move(const void* from, void* to, size_t bytes);

 private:
  DeviceQueue& from_;
  DeviceQueue& to_;
  TransferLog& log_;
  std::vector<uint8_t>
      host_;  // where the bytes go through, unless they come from the host's memory
  double download_seconds_ = 0;
};

// An activation from the operation that makes it to the one that reads it: the same memory where
// both are on one device, or else a copy, whose gradient goes back.
class ActivationLink {
 public:
  ActivationLink(DeviceQueue& from, DeviceQueue& to, TransferLog& log)
      : moves_(&from != &to), there_(from, to, log), back_(to, from, log) {}

  // By the reader's device. `source`: built, and not owned.
  void Build(const ModelContext& context, Activations& source);
  void Forward();
  void Backward();
  // As the reader has it.
  Activations& here() noexcept { return moves_ ? copy_ : *source_; }

 private:
  const bool moves_;
  Transfer there_, back_;
  Activations* source_ = nullptr;
  Activations copy_;
};

// An array of the batch, from the device that has the batch.
class InputLink {
 public:
  InputLink(DeviceQueue& from, DeviceQueue& to, TransferLog& log)
      : moves_(&from != &to), there_(from, to, log) {}

  // By the reader's device.
  void Build(const ModelContext& context, size_t bytes);
  // Where the reader finds it.
  const void* Forward(const void* array);

 private:
  const bool moves_;
  Transfer there_;
  size_t bytes_ = 0;
  DeviceArray copy_;
};

}  // namespace recpack::train
