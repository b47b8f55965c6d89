// What a tower takes its batches from.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "recpack/device/feeder.h"
#include "src/train/run/trainer.h"

namespace recpack::train {

// Used by the tower's thread.
class TowerInput {
 public:
  // `held`: how many calls of Next() a batch stays for.
  TowerInput(DeviceFeeder& feeder, size_t index, InputKind kind, size_t held = 1);
  TowerInput(TowerInput&&) noexcept = default;

  // The next batch; null at the end of an epoch.
  DeviceBatch* Next();

  // Gives back what is held.
  void Release() noexcept;

  double waited() const noexcept { return waited_; }  // seconds in Next()

 private:
  DeviceBatch* Take();

  DeviceFeeder& feeder_;
  const size_t index_;
  const InputKind kind_;
  const size_t held_;
  std::deque<DeviceBatch> batches_;  // the one given longest ago is first
  std::vector<DeviceBatch> kept_;    // of the kinds that repeat
  uint64_t given_ = 0;               // in this epoch, of those
  double waited_ = 0;
};

}  // namespace recpack::train
