// Partition of the sums of batch normalisation among blocks of threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "src/train/cuda/kernels/kernels.h"
#include "src/train/cuda/kernels/launch.h"

namespace recpack::train {

inline constexpr uint32_t kMostLanes = 32;    // maximum number of adjacent threads
inline constexpr uint32_t kSumBlocks = 1024;  // approximate number of blocks for a sum
inline constexpr uint32_t kRowsOfThread = 4;  // minimum, for a sum

// Partition of a sum. NHWC: a block sums some channels over a slice of the pixels. NCHW: one
// channel over a slice of the batch. Depends on the shape only, so results are deterministic.
struct SumGrid {
  uint32_t channels, plane;
  uint32_t things, of_slice, slices;  // pixels or images
  uint32_t lanes;                     // adjacent threads: NHWC
  uint32_t columns;                   // adjacent blocks
};

inline SumGrid MakeGrid(const ByChannel& shape, uint32_t vector) {
  const auto pixels = Count32(shape.batch * shape.plane);
  SumGrid grid = {};
  grid.channels = Count32(shape.channels);
  grid.plane = Count32(shape.plane);
  uint32_t wanted = 1;
  if (shape.layout == ImageLayout::kNhwc) {
    const uint32_t groups = grid.channels / vector;
    grid.lanes = 1;
    while (grid.lanes < groups && grid.lanes < kMostLanes) grid.lanes *= 2;
    grid.columns = (groups + grid.lanes - 1) / grid.lanes;
    grid.things = pixels;
    wanted = pixels / (kThreads / grid.lanes * kRowsOfThread);
  } else {
    grid.lanes = 1;
    grid.columns = grid.channels;
    grid.things = Count32(shape.batch);
    wanted = pixels / (kThreads * kRowsOfThread);
  }
  const uint32_t most = std::min(grid.things, std::max(1u, kSumBlocks / grid.columns));
  const uint32_t slices = std::clamp(wanted, 1u, std::max(1u, most));
  grid.of_slice = (grid.things + slices - 1) / slices;
  grid.slices = std::max(1u, grid.of_slice ? (grid.things + grid.of_slice - 1) / grid.of_slice : 1);
  return grid;
}

}  // namespace recpack::train
