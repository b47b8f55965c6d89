// Sums over ranks with a fixed order of additions.
#pragma once

#include <cstddef>
#include <span>

namespace recpack::train {

// `count` elements from `begin` on.
struct Slice {
  size_t begin = 0;
  size_t count = 0;
};

// The slice of `count` floats that rank `rank` of `size` sums. Slices begin at cache line
// boundaries, so they may be empty.
Slice RankSlice(size_t count, int rank, int size) noexcept;

// Sets every outs[k][i] to ((ins[0][i] + ins[1][i]) + ins[2][i]) + ... Outputs may be inputs:
// element i is written after all inputs at i are read.
void SumInOrder(std::span<const float* const> ins, std::span<float* const> outs,
                size_t count) noexcept;

}  // namespace recpack::train
