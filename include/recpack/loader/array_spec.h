// Type and shape of an array in a batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "recpack/base/element_type.h"

namespace recpack {

// An array that every batch contains. Its first dimension is the batch size. The declarer sets
// name, type and shape; the loader computes the rest.
struct ArraySpec {
  std::string name;
  ElementType type = ElementType::kU8;
  std::vector<uint32_t> shape = {};  // per sample; empty: a single value
  size_t sample_bytes = 0;
  size_t offset = 0;  // of the array in the slab [bytes]; a multiple of 64

  bool operator==(const ArraySpec&) const = default;
};

}  // namespace recpack
