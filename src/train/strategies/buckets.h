// Trained variables in stretches that are sent at once.
#pragma once

#include <cstddef>
#include <vector>

#include "src/train/ops/variables.h"

namespace recpack::train {

// A stretch of the array of trained variables.
struct Bucket {
  size_t begin = 0, end = 0;  // elements
  std::vector<size_t> variables;
};

// From the last variable to the first, as the backward pass finishes them, in buckets of at least
// `elements` each but for the last; together all trained variables.
std::vector<Bucket> BucketsOf(const Variables& variables, size_t elements);

// By variable: the bucket it is in. Of statistics: the number of buckets.
std::vector<size_t> BucketOfVariable(const Variables& variables,
                                     const std::vector<Bucket>& buckets);

}  // namespace recpack::train
