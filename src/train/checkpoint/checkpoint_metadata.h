// What a checkpoint says beside its arrays, as the metadata of its file.
#pragma once

#include <string>

#include "src/train/checkpoint/checkpoint.h"

namespace recpack::train {

ArrayMetadata ToMetadata(const CheckpointInfo& info);

// Throws Error with `path`: kInvalidArgument where the file is no checkpoint, kUnsupported for a
// later version, kCorrupt.
CheckpointInfo FromMetadata(const ArrayMetadata& metadata, const std::string& path);

}  // namespace recpack::train
