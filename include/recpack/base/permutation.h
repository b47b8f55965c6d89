// Keyed pseudorandom permutation without a table.
#pragma once

#include <cstdint>

namespace recpack {

// Keyed bijection of [0, size): a Feistel network over the next even number of bits, with cycle
// walking (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002). O(1) per position on
// average, O(1) memory. Stable: the mapping of a (seed, stream, size) never changes within a major
// version.
class KeyedPermutation {
 public:
  KeyedPermutation(uint64_t seed, uint32_t stream, uint64_t size) noexcept;

  // Returns the element at `position`. Requires position < size().
  uint64_t operator()(uint64_t position) const noexcept;

  // Writes the elements at positions 0 to size() - 1, in less time than one by one. Requires
  // size() <= kMostListed, and room for size() bytes.
  void List(uint8_t* into) const noexcept;
  static constexpr uint64_t kMostListed = 256;

  uint64_t size() const noexcept { return size_; }

 private:
  static constexpr int kRounds = 8;

  bool has_tables() const noexcept { return half_bits_ <= 4; }

  uint64_t size_;
  uint32_t half_bits_;
  uint64_t half_mask_;
  // Keys of the rounds. Small permutations, such as those of windows, are asked for most of their
  // positions: they have a table of each round's results instead, 4 bits for a half.
  uint64_t rounds_[kRounds];
};

}  // namespace recpack
