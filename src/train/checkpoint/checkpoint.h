// Checkpoints: all that a training run needs to go on, in one file (docs/format/checkpoint.md).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "recpack/base/file.h"
#include "src/train/checkpoint/safetensors.h"

namespace recpack::train {

// Names of the optimizer's arrays begin with it: "optimizer.momentum/conv1.weight".
inline constexpr char kOptimizerPrefix[] = "optimizer.";

// What a checkpoint says beside its arrays. Texts are UTF-8.
struct CheckpointInfo {
  std::string model;                 // "resnet"
  std::string model_options = "{}";  // what it was built with: a JSON object without depth
  uint64_t step = 0;                 // updates so far, over all epochs
  uint64_t epoch = 0;                // that the next step belongs to
  uint64_t seed = 0;                 // of weights and data
  std::string loader_token = {};     // ResumeToken as text; empty: none
  // What was delivered of the token's epoch, over all ranks: EpochAudit as text; empty: not known.
  std::string loader_audit = {};

  // That the run carries on with, such as the epoch's loss so far; every bit is kept.
  std::map<std::string, double> sums = {};
  // Of the programs that made it: {"recpack", "0.1.0"}.
  std::map<std::string, std::string> versions = {};

  bool operator==(const CheckpointInfo&) const = default;
};

struct Checkpoint {
  CheckpointInfo info;
  LoadedArrays stored;
};

// What a checkpoint has to fit.
struct CheckpointTarget {
  std::string model;
  std::string model_options = "{}";
  std::span<const NamedArray> arrays = {};  // not owned; their data are not looked at
  bool with_optimizer = true;  // false: the optimizer's arrays are left in the file (evaluation)
};

// Writes the file whole or not at all. `durable`: when this returns, it would survive a power cut.
// Throws as WriteSafetensors().
void WriteCheckpoint(FileSystem& files, const std::string& path, const CheckpointInfo& info,
                     std::span<const NamedArray> arrays, bool durable = true);

// Of any model; checked to its last byte. Throws Error: kCorrupt, kUnsupported (a later version),
// kNotFound, kIo; kInvalidArgument where the file is no checkpoint.
Checkpoint ReadCheckpoint(FileSystem& files, const std::string& path);

// One that fits: its arrays come in the target's order. Throws as ReadCheckpoint(), and
// kInvalidArgument with the first differences where model, options, names, types or shapes differ.
Checkpoint LoadCheckpoint(FileSystem& files, const std::string& path,
                          const CheckpointTarget& target);

}  // namespace recpack::train
