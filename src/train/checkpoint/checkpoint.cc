#include "src/train/checkpoint/checkpoint.h"

#include <utility>

#include "src/train/checkpoint/checkpoint_fit.h"
#include "src/train/checkpoint/checkpoint_metadata.h"

namespace recpack::train {

void WriteCheckpoint(FileSystem& files, const std::string& path, const CheckpointInfo& info,
                     std::span<const NamedArray> arrays, bool durable) {
  WriteSafetensors(files, path, arrays, ToMetadata(info), durable);
}

Checkpoint ReadCheckpoint(FileSystem& files, const std::string& path) {
  LoadedArrays stored = ReadSafetensors(files, path);
  CheckpointInfo info = FromMetadata(stored.metadata, path);
  return {std::move(info), std::move(stored)};
}

Checkpoint LoadCheckpoint(FileSystem& files, const std::string& path,
                          const CheckpointTarget& target) {
  Checkpoint checkpoint = ReadCheckpoint(files, path);
  CheckModel(checkpoint.info, target, path);
  checkpoint.stored.arrays = FittingArrays(checkpoint.stored, target, path);
  return checkpoint;
}

}  // namespace recpack::train
