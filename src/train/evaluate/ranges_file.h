// File with the ranges of a network's activations, so that it is calibrated once
// (docs/format/int8-ranges.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace recpack::train {

struct SavedRanges {
  std::string model;           // as in CheckpointInfo
  std::string model_options;   // as in CheckpointInfo
  uint64_t step = 0;           // of the checkpoint
  double percentile = 100;     // as in CalibrationOptions
  uint64_t calibrated_on = 0;  // number of samples
  // The range of the network's input, then that of each operation's output in a forward pass.
  std::vector<float> ranges;
};

// Writes the file atomically. Throws Error (kIo).
void WriteRanges(const std::string& path, const SavedRanges& saved);

// Throws Error: kNotFound, kIo; kCorrupt if it is not such a file.
SavedRanges ReadRanges(const std::string& path);

}  // namespace recpack::train
