// The model that a checkpoint is of.
#pragma once

#include <string>

#include "src/train/checkpoint/checkpoint.h"
#include "src/train/setup/trainer_options.h"

namespace recpack::train {

// Sets the model and its options as the checkpoint says. Throws Error with `path`: kUnsupported for
// a model that there is not, kCorrupt for options that are not whole.
void TakeModel(const CheckpointInfo& info, const std::string& path, TrainerOptions& options);

}  // namespace recpack::train
