// Human-readable contents of a data set.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "python/objects/dataset.h"

namespace recpack::python {

// Name, kind, minimum and maximum number of values, minimum and maximum bytes of a value.
using FeatureTuple = std::tuple<std::string, std::string, uint64_t, uint64_t, uint64_t, uint64_t>;

// The features found in 100 records.
std::vector<FeatureTuple> Schema(OpenDataset& open);

// Number of records per split of the manifest; empty if there is no manifest or if there are
// several paths.
std::vector<std::pair<std::string, uint64_t>> Splits(const OpenDataset& open);

// Returns a contact sheet as drawn by DrawSheet(), a PNG.
nanobind::bytes Sheet(OpenDataset& open, int columns, int rows, int cell, uint64_t seed,
                      const std::array<int, 3>& shape);

}  // namespace recpack::python
