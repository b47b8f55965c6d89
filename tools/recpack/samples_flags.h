// Adds and parses the flags that define a loader's samples.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "recpack/loader/mixture.h"

namespace recpack::tool {

struct SamplesFlags {
  std::string path;
  std::vector<std::string> also;  // more paths of the same data set
  std::string split;
  std::string fields;        // TARGET=NAME,...
  int64_t label_offset = 0;  // number of the first class
  std::string subset;        // file of ordinals
  std::string hash_range;    // BEGIN:END[:SEED[:KEY]]
  std::string balanced;      // feature
  bool leave_out_corrupt = false;
  std::vector<std::string> mix;  // DATA=WEIGHT
  MixOptions options;
};

// DATA, --also, --split, --field, --label-offset, --subset, --hash-range, --balanced,
// --leave-out-corrupt, --mix, --mix-period, --epoch-samples.
void AddSamplesFlags(CLI::App& command, SamplesFlags& flags);

// Throws Error (kInvalidArgument) for invalid flags or combinations.
Mixture OpenSamples(const SamplesFlags& flags);

}  // namespace recpack::tool
