#include "src/train/collectives/ordered_sum.h"

#include <algorithm>
#include <cstring>

namespace recpack::train {
namespace {

constexpr size_t kLine = 16;    // floats per cache line
constexpr size_t kTile = 1024;  // floats summed before they are stored; fits the L1 cache

void Add(const float* __restrict from, float* __restrict to, size_t count) noexcept {
  for (size_t i = 0; i < count; ++i) to[i] += from[i];
}

}  // namespace

Slice RankSlice(size_t count, int rank, int size) noexcept {
  const auto edge = [&](int r) {
    return r == size ? count
                     : count * static_cast<size_t>(r) / static_cast<size_t>(size) & ~(kLine - 1);
  };
  return {edge(rank), edge(rank + 1) - edge(rank)};
}

void SumInOrder(std::span<const float* const> ins, std::span<float* const> outs,
                size_t count) noexcept {
  float tile[kTile];
  for (size_t begin = 0; begin < count; begin += kTile) {
    const size_t length = std::min(kTile, count - begin);
    std::memcpy(tile, ins[0] + begin, length * sizeof(float));
    for (const float* in : ins.subspan(1)) Add(in + begin, tile, length);
    for (float* out : outs) std::memcpy(out + begin, tile, length * sizeof(float));
  }
}

}  // namespace recpack::train
