#include <cstring>

#include "recpack/base/slab.h"
#include "src/device/lane.h"

namespace recpack {
namespace {

// Slot on the host. Streams do not matter: the arrays are complete.
class HostSlot final : public DeviceSlot {
 public:
  HostSlot(std::shared_ptr<SlotPool> pool, size_t index, std::shared_ptr<void> results,
           std::shared_ptr<const Batch> batch)
      : DeviceSlot(std::move(pool), index),
        results_(std::move(results)),
        batch_(std::move(batch)) {}

  void OnStream(DeviceStream) override {}

 private:
  std::shared_ptr<void> results_;
  std::shared_ptr<const Batch> batch_;
};

class HostLane final : public Lane {
 public:
  HostLane(const DeviceLayout& layout, size_t slots) : Lane(-1, slots), layout_(layout) {
    for (const FinishStep& step : layout.steps) finishers_.emplace_back(step.options);
    for (size_t i = 0; i < slots && !finishers_.empty(); ++i) {
      results_.push_back(HostSlabs().Allocate(layout.slot_bytes));
    }
    results_.resize(slots);
  }

  LaneBatch Bring(size_t slot, const std::shared_ptr<const Batch>& batch) override {
    auto* const results = static_cast<uint8_t*>(results_[slot].get());
    LaneBatch brought{std::make_unique<HostSlot>(pool_, slot, results_[slot], batch), {}};
    for (size_t i = 0; i < layout_.steps.size(); ++i) {
      Finish(layout_.steps[i], finishers_[i], *batch, results + layout_.steps[i].offset);
    }
    for (size_t i = 0; i < layout_.sources.size(); ++i) {
      const size_t source = layout_.sources[i];
      if (source == DeviceLayout::kResult) {
        brought.data.push_back(results + (*layout_.arrays)[i].offset);
      } else {
        brought.data.push_back(batch->Raw(source));
      }
    }
    return brought;
  }

 private:
  static void Finish(const FinishStep& step, const Finisher& finisher, const Batch& batch,
                     uint8_t* out) {
    const FinishOptions& o = step.options;
    const size_t source_bytes = static_cast<size_t>(o.in_height) * o.in_width * o.channels;
    const auto* image = static_cast<const uint8_t*>(batch.Raw(step.image));
    const auto* geometry = static_cast<const FinishGeometry*>(batch.Raw(step.geometry));
    for (uint32_t i = 0; i < batch.size(); ++i) {
      finisher(image + i * source_bytes, geometry[i], out + i * step.out_bytes);
    }
  }

  DeviceLayout layout_;
  std::vector<Finisher> finishers_;
  std::vector<std::shared_ptr<void>> results_;
};

}  // namespace

std::shared_ptr<Lane> MakeHostLane(const DeviceLayout& layout, size_t slots) {
  return std::make_shared<HostLane>(layout, slots);
}

}  // namespace recpack
