#include "recpack/base/random.h"

namespace recpack {
namespace {

constexpr uint32_t kMultiplier0 = 0xD2511F53;
constexpr uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9;
constexpr uint32_t kWeyl1 = 0xBB67AE85;

}  // namespace

std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> c, std::array<uint32_t, 2> k) noexcept {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{kMultiplier0} * c[0];
    const uint64_t p1 = uint64_t{kMultiplier1} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(p0)};
    k[0] += kWeyl0;
    k[1] += kWeyl1;
  }
  return c;
}

KeyedRandom::KeyedRandom(uint64_t seed, uint32_t stream, uint64_t position) noexcept
    : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
      counter_{0, stream, static_cast<uint32_t>(position), static_cast<uint32_t>(position >> 32)} {}

uint32_t KeyedRandom::NextU32() noexcept {
  if (used_ == 4) {
    block_ = Philox(counter_, key_);
    ++counter_[0];
    used_ = 0;
  }
  return block_[used_++];
}

uint64_t KeyedRandom::NextU64() noexcept {
  const uint64_t low = NextU32();
  return low | uint64_t{NextU32()} << 32;
}

uint32_t KeyedRandom::NextBelow(uint32_t bound) noexcept {
  uint64_t product = uint64_t{NextU32()} * bound;
  if (static_cast<uint32_t>(product) < bound) {
    const uint32_t threshold = -bound % bound;
    while (static_cast<uint32_t>(product) < threshold) product = uint64_t{NextU32()} * bound;
  }
  return static_cast<uint32_t>(product >> 32);
}

float KeyedRandom::NextUnit() noexcept { return static_cast<float>(NextU32() >> 8) * 0x1p-24f; }

}  // namespace recpack
