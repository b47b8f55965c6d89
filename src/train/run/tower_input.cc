#include "src/train/run/tower_input.h"

#include <chrono>
#include <utility>

#include "src/train/ops/seconds.h"

namespace recpack::train {
namespace {

constexpr size_t kCached = 2;  // batches; the feeder's depth leaves one more

}  // namespace

TowerInput::TowerInput(DeviceFeeder& feeder, size_t index, InputKind kind, size_t held)
    : feeder_(feeder), index_(index), kind_(kind), held_(held) {}

DeviceBatch* TowerInput::Next() {
  const auto begin = std::chrono::steady_clock::now();
  DeviceBatch* batch = Take();
  waited_ += SecondsSince(begin);
  return batch;
}

void TowerInput::Release() noexcept {
  batches_.clear();
  kept_.clear();
}

DeviceBatch* TowerInput::Take() {
  if (kind_ == InputKind::kReal) {
    if (batches_.size() == held_) batches_.pop_front();
    auto batch = feeder_.Next(index_);
    return batch ? &batches_.emplace_back(std::move(*batch)) : nullptr;
  }
  if (given_ == feeder_.steps_per_epoch()) {
    given_ = 0;
    return nullptr;
  }
  const size_t most = kind_ == InputKind::kCached ? kCached : 1;
  const size_t next = given_++ % most;
  while (kept_.size() <= next) {
    if (auto batch = feeder_.Next(index_)) kept_.push_back(std::move(*batch));
  }
  return &kept_[next];
}

}  // namespace recpack::train
