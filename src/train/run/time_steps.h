// Steps on several kinds of input, taken in turns and timed.
#pragma once

#include <functional>
#include <vector>

#include "recpack/device/feeder.h"
#include "src/train/collectives/collective.h"
#include "src/train/ops/strategy.h"
#include "src/train/setup/step_timing.h"

namespace recpack::train {

// What one device does.
struct TimedDevice {
  DeviceFeeder& feeder;
  size_t index;         // in the feeder
  Collective& control;  // of all devices
  size_t held = 1;      // calls of `step` that a batch stays for, unless it settles before
  std::function<void(DeviceBatch& batch)> step;
  std::function<void()> settle;              // returns when all is done that steps have begun
  std::function<ExchangeAccount()> account;  // since the device was made
};

// Called by each device's thread; all get the same, in the order of options.inputs. Throws what
// the feeder, a step or the collective threw.
std::vector<StepTiming> TimeSteps(const TimedDevice& device, const StepTimingOptions& options);

}  // namespace recpack::train
