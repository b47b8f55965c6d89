// Adds and parses the flags that name a data set, as Dataset::Open() takes it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "recpack/loader/dataset.h"

namespace recpack::tool {

struct DataFlags {
  std::vector<std::string> paths;
  std::string split;
  std::string fields;        // TARGET=NAME,...
  int64_t label_offset = 0;  // number of the first class

  bool maps() const { return !fields.empty() || label_offset != 0; }
  // Throws Error (kInvalidArgument).
  DatasetOptions options() const;
};

// --field, --label-offset.
void AddFieldFlags(CLI::App& command, std::string& fields, int64_t& label_offset);

// DATA..., --field, --label-offset.
void AddDataFlags(CLI::App& command, DataFlags& flags);

}  // namespace recpack::tool
