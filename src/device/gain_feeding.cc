#include "src/device/gain_feeding.h"

namespace recpack {

GainFeeding::GainFeeding(Loader& loader, size_t consumers, std::mutex& mutex,
                         std::condition_variable& changed)
    : loader_(loader), mutex_(mutex), changed_(changed), consumers_(consumers) {
  loader.CountSteps(static_cast<uint32_t>(consumers));
  if (!loader.in_gain_run()) return;
  mark_ = GainMark{.loader = loader.stats().number, .batch_size = loader.options().batch_size};
}

void GainFeeding::Asks(size_t consumer, bool waits) noexcept {
  if (!mark_) return;
  consumers_[consumer].waits = waits;
  if (waits) changed_.notify_all();
}

void GainFeeding::Has(size_t consumer) noexcept {
  if (!mark_) return;
  consumers_[consumer].waits = false;
  changed_.notify_all();
}

void GainFeeding::Tell(size_t consumer, const std::optional<DeviceBatch>& batch) {
  if (!mark_) return;
  GainPlan::Block& block = consumers_[consumer].block;
  if (batch && batch->gain_block_) block = *batch->gain_block_;
  GainMark told = *mark_;
  told.kind = batch ? block.kind : GainMark::kEndOfEpoch;
  told.Tell(block.number, static_cast<uint16_t>(consumer));
}

}  // namespace recpack
