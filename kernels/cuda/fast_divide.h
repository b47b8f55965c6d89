// Fast division by a divisor known before the kernel launch.
#pragma once

#include <cstdint>

#include "kernels/finish.h"

namespace recpack {

// Exact for dividends and divisors below 2^31: Granlund and Montgomery, "Division by Invariant
// Integers using Multiplication", with a 33-bit multiplier whose top bit is the addition.
class FastDivide {
 public:
  FastDivide() = default;
  explicit FastDivide(uint32_t divisor) {
    while ((uint64_t{1} << shift_) < divisor) ++shift_;
    const uint64_t rest = (uint64_t{1} << shift_) - divisor;
    multiplier_ = static_cast<uint32_t>((rest << 32) / divisor + 1);
  }

  RECPACK_HOST_DEVICE uint32_t operator()(uint32_t dividend) const {
    const auto high = static_cast<uint32_t>(uint64_t{dividend} * multiplier_ >> 32);
    return (high + dividend) >> shift_;
  }

 private:
  uint32_t multiplier_ = 1;
  uint32_t shift_ = 0;
};

}  // namespace recpack
