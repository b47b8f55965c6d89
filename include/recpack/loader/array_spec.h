// Type and shape of an array in a batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "recpack/base/element_type.h"

namespace recpack {

// Rows of an array: the values along its first dimension.
enum class ArrayRows {
  kSamples,  // one for each sample
  kRagged,   // of all samples, one behind the other, without gaps: sample i has rows offsets[i] to
             // offsets[i + 1] - 1
  kOffsets,  // i64, size() + 1 of them: the offsets of array NAME are in NAME_offsets
};

// An array that every batch contains. The declarer sets name, type, shape and rows; the loader
// computes the rest, and adds the array of offsets to a ragged one.
struct ArraySpec {
  std::string name;
  ElementType type = ElementType::kU8;
  // Per sample; empty: a single value. Of a ragged array the first dimension is the most rows of a
  // sample, for which the loader keeps memory.
  std::vector<uint32_t> shape = {};
  size_t sample_bytes = 0;
  size_t offset = 0;  // of the array in the slab [bytes]; a multiple of 64
  ArrayRows rows = ArrayRows::kSamples;

  bool operator==(const ArraySpec&) const = default;
};

}  // namespace recpack
