// Checkpoints: the complete state of a training run in one file (docs/format/checkpoint.md).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "recpack/base/file.h"
#include "src/train/checkpoint/safetensors.h"

namespace recpack::train {

// Prefix of the optimizer's arrays: "optimizer.momentum/conv1.weight".
inline constexpr char kOptimizerPrefix[] = "optimizer.";

// Contents of a checkpoint besides its arrays. All text is UTF-8.
struct CheckpointInfo {
  std::string model;                 // "resnet"
  std::string model_options = "{}";  // the model's options: a flat JSON object
  // Recipe with which its images are evaluated; empty: none, or unknown.
  std::string eval_recipe = {};
  uint64_t step = 0;              // number of updates so far, over all epochs
  uint64_t epoch = 0;             // epoch of the next step
  uint64_t seed = 0;              // for weights and data
  std::string loader_token = {};  // ResumeToken as text; empty: none
  // EpochAudit as text: what all ranks delivered in the token's epoch; empty: unknown.
  std::string loader_audit = {};
  // The learning rate's schedule: its epochs, and the steps of each. 0: unknown.
  uint64_t schedule_epochs = 0;
  uint64_t epoch_steps = 0;

  // Running values, such as the epoch's loss so far; stored exactly.
  std::map<std::string, double> sums = {};
  // Versions of the programs that wrote it: {"recpack", "0.1.0"}.
  std::map<std::string, std::string> versions = {};

  bool operator==(const CheckpointInfo&) const = default;
};

struct Checkpoint {
  CheckpointInfo info;
  LoadedArrays stored;
};

// What a checkpoint must match to be loaded.
struct CheckpointTarget {
  std::string model;
  std::string model_options = "{}";
  std::span<const NamedArray> arrays = {};  // not owned; their data is not read
  bool with_optimizer = true;  // false: the optimizer's arrays are not loaded (evaluation)
};

// Writes the file atomically. `durable`: the file survives a power failure once this returns.
// Throws like WriteSafetensors().
void WriteCheckpoint(FileSystem& files, const std::string& path, const CheckpointInfo& info,
                     std::span<const NamedArray> arrays, bool durable = true);

// Reads a checkpoint of any model and verifies every byte. Throws Error: kCorrupt, kUnsupported (a
// later version), kNotFound, kIo; kInvalidArgument if the file is not a checkpoint.
Checkpoint ReadCheckpoint(FileSystem& files, const std::string& path);

// Reads a checkpoint that matches the target; arrays are in the target's order. Throws like
// ReadCheckpoint(), and kInvalidArgument with the first differences in model, options, names, types
// or shapes.
Checkpoint LoadCheckpoint(FileSystem& files, const std::string& path,
                          const CheckpointTarget& target);

// Throws Error (kInvalidArgument) if the model or its options differ.
void CheckModel(const CheckpointInfo& info, const CheckpointTarget& target,
                const std::string& path);

// Returns the target's arrays as stored. Throws Error (kInvalidArgument) with the first differences
// in names, types and shapes.
std::vector<NamedArray> FittingArrays(const LoadedArrays& stored, const CheckpointTarget& target,
                                      const std::string& path);

}  // namespace recpack::train
