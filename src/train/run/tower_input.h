// Provides a tower's batches: from the loader, repeated from memory, or synthetic.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "recpack/device/feeder.h"
#include "src/train/run/trainer.h"

namespace recpack::train {

// Used on the tower's thread.
class TowerInput {
 public:
  // `held`: number of calls of Next() that a batch stays valid for.
  TowerInput(DeviceFeeder& feeder, size_t index, InputKind kind, size_t held = 1);
  TowerInput(TowerInput&&) noexcept = default;

  // The next batch; null at the end of an epoch.
  DeviceBatch* Next();

  // Releases all held batches.
  void Release() noexcept;

  double waited() const noexcept { return waited_; }  // seconds in Next()

 private:
  DeviceBatch* Take();

  DeviceFeeder& feeder_;
  const size_t index_;
  const InputKind kind_;
  const size_t held_;
  std::deque<DeviceBatch> batches_;  // oldest first
  std::vector<DeviceBatch> kept_;    // for the repeating kinds
  uint64_t given_ = 0;               // batches of the repeating kinds given in this epoch
  double waited_ = 0;
};

}  // namespace recpack::train
