// Whether a checkpoint is of the model that it is to be loaded into.
#pragma once

#include <string>
#include <vector>

#include "src/train/checkpoint/checkpoint.h"

namespace recpack::train {

// Throws Error (kInvalidArgument) where model or options are others.
void CheckModel(const CheckpointInfo& info, const CheckpointTarget& target,
                const std::string& path);

// The target's arrays as they are stored. Throws Error (kInvalidArgument) with the first
// differences in names, types and shapes.
std::vector<NamedArray> FittingArrays(const LoadedArrays& stored, const CheckpointTarget& target,
                                      const std::string& path);

}  // namespace recpack::train
