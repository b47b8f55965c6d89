// What a tower takes its batches from.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "recpack/device/feeder.h"
#include "recpack/train/trainer.h"

namespace recpack {

// Used by the tower's thread.
class TowerInput {
 public:
  TowerInput(DeviceFeeder& feeder, size_t index, InputKind kind);

  // The next batch, which stays until the next call; null at the end of an epoch.
  DeviceBatch* Next();

  // Gives back what is held.
  void Release() noexcept;

  double waited() const noexcept { return waited_; }  // seconds in Next()

 private:
  DeviceBatch* Take();

  DeviceFeeder& feeder_;
  const size_t index_;
  const InputKind kind_;
  std::optional<DeviceBatch> batch_;
  std::vector<DeviceBatch> kept_;  // of the kinds that repeat
  uint64_t given_ = 0;             // in this epoch, of those
  double waited_ = 0;
};

}  // namespace recpack
