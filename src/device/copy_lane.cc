// Lane of a device, with two streams: batches are copied on one and finished on the other, so that
// the next copy does not wait for the previous batch's kernels.
#include <algorithm>

#include "src/device/handles.h"
#include "src/device/lane.h"
#include "src/device/releaser.h"

namespace recpack {
namespace {

struct CopySlot {
  CopySlot(DeviceRuntime& runtime, int device, size_t bytes)
      : memory(runtime, device, bytes), copied(runtime, device), ready(runtime, device) {}

  DeviceMemory memory;
  EventHandle copied;
  EventHandle ready;
  std::vector<std::unique_ptr<EventHandle>> read;  // one per consumer's stream
  size_t readers = 0;                              // number used by the last batch
  bool used = false;
};

class CopyLane final : public Lane, public std::enable_shared_from_this<CopyLane> {
 public:
  CopyLane(DeviceRuntime& runtime, int device, const DeviceLayout& layout, size_t slots,
           Releaser& releaser)
      : Lane(device, slots),
        runtime_(runtime),
        layout_(layout),
        releaser_(releaser),
        copy_(runtime, device),
        finish_(runtime, device) {
    for (size_t i = 0; i < slots; ++i) {
      slots_.push_back(std::make_unique<CopySlot>(runtime, device, layout.slot_bytes));
    }
  }

  ~CopyLane() override {
    for (const auto& slot : slots_) WaitUntilUnused(*slot);
  }

  LaneBatch Bring(size_t slot, const std::shared_ptr<const Batch>& batch) override;

  DeviceEvent ReadyEvent(const CopySlot& slot) const {
    return layout_.steps.empty() ? slot.copied.get() : slot.ready.get();
  }

 private:
  friend class CopiedBatch;

  void OrderCopy(const CopySlot& slot);
  void Finish(const CopySlot& slot, uint32_t samples);
  void Unwind(DeviceStream stream, WaitPoint point) noexcept;
  void WaitUntilUnused(const CopySlot& slot) noexcept;

  DeviceRuntime& runtime_;
  const DeviceLayout layout_;
  Releaser& releaser_;  // valid while the feeder exists
  StreamHandle copy_;
  StreamHandle finish_;
  std::vector<std::unique_ptr<CopySlot>> slots_;
};

// May outlive the feeder with its batch; keeps the lane alive.
class CopiedBatch final : public DeviceSlot {
 public:
  CopiedBatch(std::shared_ptr<CopyLane> lane, size_t index)
      : DeviceSlot(lane->pool(), index), lane_(std::move(lane)), slot_(*lane_->slots_[index]) {}

  ~CopiedBatch() override {
    for (const DeviceStream reader : readers_) RecordRead(reader);
  }

  void OnStream(DeviceStream stream) override {
    lane_->runtime_.Wait(lane_->device(), stream, lane_->ReadyEvent(slot_),
                         WaitPoint::kConsumerAfterReady);
    // Only now: later records come after the kernels.
    if (std::ranges::count(readers_, stream) == 0) readers_.push_back(stream);
  }

 private:
  void RecordRead(DeviceStream reader) noexcept {
    DeviceRuntime& runtime = lane_->runtime_;
    try {
      if (slot_.readers == slot_.read.size()) {
        slot_.read.push_back(std::make_unique<EventHandle>(runtime, lane_->device()));
      }
      runtime.Record(lane_->device(), slot_.read[slot_.readers]->get(), reader);
      ++slot_.readers;
    } catch (...) {
      lane_->Unwind(reader, WaitPoint::kUnwindReader);
    }
  }

  std::shared_ptr<CopyLane> lane_;
  CopySlot& slot_;
  std::vector<DeviceStream> readers_;
};

LaneBatch CopyLane::Bring(size_t index, const std::shared_ptr<const Batch>& batch) {
  CopySlot& slot = *slots_[index];
  LaneBatch brought{std::make_unique<CopiedBatch>(shared_from_this(), index), {}};
  for (const ArraySpec& array : *layout_.arrays) {
    brought.data.push_back(slot.memory.get() + array.offset);
  }
  try {
    OrderCopy(slot);
    slot.used = true;
    slot.readers = 0;
    runtime_.Copy(device_, slot.memory.get(), batch->Raw(size_t{0}), layout_.slab_bytes,
                  copy_.get());
    runtime_.Record(device_, slot.copied.get(), copy_.get());
    if (!layout_.steps.empty()) Finish(slot, batch->size());
  } catch (...) {
    Unwind(copy_.get(), WaitPoint::kUnwindCopy);
    Unwind(finish_.get(), WaitPoint::kUnwindFinish);
    throw;
  }
  releaser_.Add(device_, slot.copied.get(), batch);
  return brought;
}

void CopyLane::OrderCopy(const CopySlot& slot) {
  for (size_t i = 0; i < slot.readers; ++i) {
    runtime_.Wait(device_, copy_.get(), slot.read[i]->get(), WaitPoint::kCopyAfterConsumer);
  }
  // Readers already wait for it; if there are no kernels, so does the copy stream.
  if (slot.used && slot.readers == 0 && !layout_.steps.empty()) {
    runtime_.Wait(device_, copy_.get(), slot.ready.get(), WaitPoint::kCopyAfterFinish);
  }
}

void CopyLane::Finish(const CopySlot& slot, uint32_t samples) {
  runtime_.Wait(device_, finish_.get(), slot.copied.get(), WaitPoint::kFinishAfterCopy);
  uint8_t* const memory = slot.memory.get();
  for (const FinishStep& step : layout_.steps) {
    runtime_.Finish(device_, step.options, memory + step.image_offset,
                    reinterpret_cast<const FinishGeometry*>(memory + step.geometry_offset),
                    static_cast<int>(samples), memory + step.offset, finish_.get());
  }
  runtime_.Record(device_, slot.ready.get(), finish_.get());
}

void CopyLane::Unwind(DeviceStream stream, WaitPoint point) noexcept {
  try {
    runtime_.Drain(device_, stream, point);
  } catch (...) {  // the device is dead: nothing runs any more
  }
}

void CopyLane::WaitUntilUnused(const CopySlot& slot) noexcept {
  if (!slot.used) return;
  try {
    for (size_t i = 0; i < slot.readers; ++i) {
      runtime_.Synchronise(device_, slot.read[i]->get(), WaitPoint::kFreeAfterConsumer);
    }
    if (slot.readers == 0) {
      runtime_.Synchronise(device_, ReadyEvent(slot), WaitPoint::kFreeAfterFinish);
    }
  } catch (...) {  // the device is dead: nothing runs any more
  }
}

}  // namespace

std::shared_ptr<Lane> MakeCopyLane(DeviceRuntime& runtime, int device, const DeviceLayout& layout,
                                   size_t slots, Releaser& releaser) {
  return std::make_shared<CopyLane>(runtime, device, layout, slots, releaser);
}

}  // namespace recpack
