// Times steps on several kinds of input, in turns.
#pragma once

#include <functional>
#include <vector>

#include "recpack/device/feeder.h"
#include "src/train/collectives/collective.h"
#include "src/train/layers/strategy.h"
#include "src/train/layers/transfer.h"
#include "src/train/setup/step_timing.h"

namespace recpack::train {

// One device's functions for timing.
struct TimedDevice {
  DeviceFeeder& feeder;
  size_t index;         // in the feeder
  Collective& control;  // of all devices
  // calls of `step` that a batch must stay valid for, unless `settle` comes first
  size_t held = 1;
  std::function<void(DeviceBatch& batch)> step;
  std::function<void()> settle;              // waits until all enqueued steps are done
  std::function<ExchangeAccount()> account;  // totals since the device was made
  // Between the devices of a placed model, which is the only one; since the last call.
  std::function<TransferAccount()> transfers = [] { return TransferAccount(); };
};

// Collective over all devices' threads; all get the same result, in the order of options.inputs.
// Rethrows exceptions of the feeder, of steps and of the collective.
std::vector<StepTiming> TimeSteps(const TimedDevice& device, const StepTimingOptions& options);

}  // namespace recpack::train
