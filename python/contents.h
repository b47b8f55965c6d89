// What is in a data set, for people.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "python/dataset.h"

namespace recpack::python {

// Name, kind, fewest and most values, least and most bytes of a value.
using FeatureTuple = std::tuple<std::string, std::string, uint64_t, uint64_t, uint64_t, uint64_t>;

// Of a look at 100 records.
std::vector<FeatureTuple> Schema(OpenDataset& open);

// Records of each split that a manifest names: nothing where there is none, or several paths.
std::vector<std::pair<std::string, uint64_t>> Splits(const OpenDataset& open);

// A contact sheet as DrawSheet() draws it, a PNG.
nanobind::bytes Sheet(OpenDataset& open, int columns, int rows, int cell, uint64_t seed,
                      const std::array<int, 3>& shape);

}  // namespace recpack::python
