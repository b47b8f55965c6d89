// Counter-based random numbers: a pure function of a key and a counter, independent of earlier
// draws and of the thread.
#pragma once

#include <array>
#include <cstdint>

namespace recpack {

// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> counter,
                               std::array<uint32_t, 2> key) noexcept;

// Stream of random numbers for one (seed, stream, position). Copyable. Not thread-safe.
class KeyedRandom {
 public:
  KeyedRandom(uint64_t seed, uint32_t stream, uint64_t position) noexcept;

  uint32_t NextU32() noexcept;
  uint64_t NextU64() noexcept;

  // Uniform in [0, bound), unbiased (Lemire, "Fast random integer generation in an interval",
  // 2019). Requires bound > 0.
  uint32_t NextBelow(uint32_t bound) noexcept;

  // Uniform in [0, 1), with 24 bits.
  float NextUnit() noexcept;

 private:
  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> counter_;
  std::array<uint32_t, 4> block_{};
  uint32_t used_ = 4;
};

}  // namespace recpack
