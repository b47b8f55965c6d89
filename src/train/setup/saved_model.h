// Takes the model of a checkpoint or an ONNX file into the options.
#pragma once

#include <string>

#include "src/train/checkpoint/checkpoint.h"
#include "src/train/setup/trainer_options.h"

namespace recpack::train {

// Sets the model to the network of an ONNX file, and the recipe, where none is set, by its size of
// images. Throws errors of ReadOnnxNetwork().
CheckpointInfo TakeOnnx(const std::string& path, TrainerOptions& options);

// Sets the model and its options from the checkpoint. Throws Error with `path`: kUnsupported for an
// unknown model, kCorrupt for invalid options.
void TakeModel(const CheckpointInfo& info, const std::string& path, TrainerOptions& options);

}  // namespace recpack::train
