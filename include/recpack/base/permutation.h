// A permutation that needs no table.
#pragma once

#include <cstdint>

namespace recpack {

// A keyed bijection of [0, size): a Feistel network over the next even number of bits, with cycle
// walking (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002). O(1) a position in
// the mean, no memory. Frozen: the mapping of a (seed, stream, size) never changes within a major
// version.
class KeyedPermutation {
 public:
  KeyedPermutation(uint64_t seed, uint32_t stream, uint64_t size) noexcept;

  // The element at `position`; position < size().
  uint64_t operator()(uint64_t position) const noexcept;

  uint64_t size() const noexcept { return size_; }

 private:
  static constexpr int kRounds = 8;

  uint64_t size_;
  uint32_t half_bits_;
  uint64_t half_mask_;
  uint64_t round_keys_[kRounds];
};

}  // namespace recpack
