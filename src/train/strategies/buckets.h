// Buckets: groups of trained variables that are exchanged together.
#pragma once

#include <cstddef>
#include <vector>

#include "src/train/layers/variables.h"

namespace recpack::train {

// A range of the array of trained variables.
struct Bucket {
  size_t begin = 0, end = 0;  // elements
  std::vector<size_t> variables;
};

// Splits all trained variables into buckets of at least `elements` each (except the last), from the
// last variable to the first, which is the order of the backward pass.
std::vector<Bucket> MakeBuckets(const Variables& variables, size_t elements);

// Bucket index per variable. Statistics get the number of buckets.
std::vector<size_t> BucketOfVariable(const Variables& variables,
                                     const std::vector<Bucket>& buckets);

}  // namespace recpack::train
