#include "recpack/base/permutation.h"

#include <algorithm>
#include <bit>

#include "recpack/base/random.h"

namespace recpack {
namespace {

// The finaliser of MurmurHash3 (fmix64): every input bit reaches every output bit.
uint64_t Mix(uint64_t x) noexcept {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccd;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53;
  return x ^ (x >> 33);
}

// The round's results for all halves, 4 bits each.
uint64_t Table(uint64_t key, uint64_t half_mask) noexcept {
  uint64_t table = 0;
  for (uint64_t half = 0; half <= half_mask; ++half) {
    table |= (Mix(half ^ key) & half_mask) << 4 * half;
  }
  return table;
}

}  // namespace

KeyedPermutation::KeyedPermutation(uint64_t seed, uint32_t stream, uint64_t size) noexcept
    : size_(size) {
  const uint32_t bits = size > 1 ? static_cast<uint32_t>(std::bit_width(size - 1)) : 1;
  half_bits_ = std::max<uint32_t>(1, (bits + 1) / 2);
  half_mask_ = (uint64_t{1} << half_bits_) - 1;
  KeyedRandom keys(seed, stream, size);
  for (uint64_t& round : rounds_) {
    const uint64_t key = keys.NextU64();
    round = has_tables() ? Table(key, half_mask_) : key;
  }
}

uint64_t KeyedPermutation::operator()(uint64_t position) const noexcept {
  const auto walk = [&](auto result_of) {
    do {
      uint64_t left = position >> half_bits_;
      uint64_t right = position & half_mask_;
      for (const uint64_t round : rounds_) {
        const uint64_t next = left ^ (result_of(round, right) & half_mask_);
        left = right;
        right = next;
      }
      position = left << half_bits_ | right;
    } while (position >= size_);
    return position;
  };
  if (has_tables()) {
    return walk([](uint64_t table, uint64_t half) { return table >> 4 * half; });
  }
  return walk([](uint64_t key, uint64_t half) { return Mix(half ^ key); });
}

void KeyedPermutation::List(uint8_t* into) const noexcept {
  const uint64_t halves = half_mask_ + 1;
  uint8_t tables[kRounds][16];
  for (int round = 0; round < kRounds; ++round) {
    for (uint64_t half = 0; half < halves; ++half) {
      tables[round][half] = static_cast<uint8_t>(rounds_[round] >> 4 * half & half_mask_);
    }
  }
  // Each position's result without a walk; the positions do not wait for each other.
  uint8_t results[kMostListed];
  for (uint64_t position = 0; position < halves * halves; ++position) {
    uint64_t left = position >> half_bits_;
    uint64_t right = position & half_mask_;
    for (int round = 0; round < kRounds; round += 2) {
      left ^= tables[round][right];
      right ^= tables[round + 1][left];
    }
    results[position] = static_cast<uint8_t>(left << half_bits_ | right);
  }
  for (uint64_t position = 0; position < size_; ++position) {
    uint8_t result = results[position];
    while (result >= size_) result = results[result];
    into[position] = result;
  }
}

}  // namespace recpack
