// Converts a checkpoint's CheckpointInfo to and from the metadata of its file.
#pragma once

#include <string>

#include "src/train/checkpoint/checkpoint.h"

namespace recpack::train {

ArrayMetadata ToMetadata(const CheckpointInfo& info);

// Throws Error with `path`: kInvalidArgument if the file is not a checkpoint, kUnsupported for a
// later version, kCorrupt.
CheckpointInfo FromMetadata(const ArrayMetadata& metadata, const std::string& path);

}  // namespace recpack::train
