// One model over several devices, as the options of a training ask for it.
#pragma once

#include "src/train/ops/placement.h"
#include "src/train/setup/trainer_options.h"

namespace recpack::train {

// Of a training whose devices each have the whole model: empty.
struct ModelPlacement {
  ModelGraph graph;
  DeviceOfOperation device_of;
};

// Throws Error: kInvalidArgument for a placement that cannot be, kUnsupported for a model that
// cannot be placed.
ModelPlacement PlaceModel(const TrainerOptions& options);

// The options with CPU devices in place of those that are not there, each told of, where
// soft_placement allows it. Throws Error (kDevice, kUnsupported) where it does not.
TrainerOptions OnDevicesThatAreThere(TrainerOptions options, const TrainerNotice& notice);

}  // namespace recpack::train
