// Sums over ranks, with the same bits whoever adds them up.
#pragma once

#include <cstddef>
#include <span>

namespace recpack::train {

// From `begin` on, `count` elements.
struct Slice {
  size_t begin = 0;
  size_t count = 0;
};

// What rank `rank` of `size` sums of an array of `count` floats. Slices begin at whole cache lines
// of the array, so they may be empty.
Slice SliceOf(size_t count, int rank, int size) noexcept;

// Every outs[k][i] becomes ((ins[0][i] + ins[1][i]) + ins[2][i]) + ... Outputs may be inputs, whole
// ones: they are written only once all inputs were read at that place.
void SumInOrder(std::span<const float* const> ins, std::span<float* const> outs,
                size_t count) noexcept;

}  // namespace recpack::train
