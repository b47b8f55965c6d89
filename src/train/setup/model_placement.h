// Placement of one model on several devices, from the options of a training.
#pragma once

#include "src/train/layers/placement.h"
#include "src/train/setup/trainer_options.h"

namespace recpack::train {

// Empty if each device has the whole model.
struct ModelPlacement {
  ModelGraph graph;
  DeviceOfOperation device_of;
};

// `options`: complete. Throws Error: kInvalidArgument for an invalid placement, kUnsupported for
// one that splits an operation.
ModelPlacement PlaceModel(const TrainerOptions& options);

// Replaces missing devices by CPU devices, with a notice for each, if soft_placement is set.
// Otherwise throws Error (kDevice, kUnsupported) for a missing device.
TrainerOptions OnDevicesThatAreThere(TrainerOptions options, const TrainerNotice& notice);

}  // namespace recpack::train
