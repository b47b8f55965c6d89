#include "src/train/cpu/not_a_number.h"

#include <algorithm>
#include <atomic>

namespace recpack::train {
namespace {

constexpr size_t kElementsAtATime = 65536;  // per thread

// Compares bit patterns, which is faster than comparing values.
constexpr uint32_t kSign = 0x8000'0000, kInfinity = 0x7f80'0000;
constexpr uint16_t kBf16Sign = kSign >> 16, kBf16Infinity = kInfinity >> 16;
bool IsNotANumber(uint32_t f32) { return (f32 & ~kSign) > kInfinity; }
bool IsNotANumber(uint16_t bf16) {
  return static_cast<uint16_t>(bf16 & ~kBf16Sign) > kBf16Infinity;
}

template <typename Bits>
bool Has(const Team& team, const void* values, size_t count) {
  const auto* const bits = static_cast<const Bits*>(values);
  std::atomic<bool> found = false;
  team.For((count + kElementsAtATime - 1) / kElementsAtATime, [&](size_t part) {
    const size_t begin = part * kElementsAtATime;
    const size_t end = std::min(count, begin + kElementsAtATime);
    Bits any = 0;
    for (size_t i = begin; i < end; ++i) any |= static_cast<Bits>(IsNotANumber(bits[i]));
    if (any) found.store(true, std::memory_order_relaxed);
  });
  return found.load(std::memory_order_relaxed);
}

template <typename Bits>
void Keep(const PoolingSpec& spec, const void* x, void* y) {
  const bool last = spec.layout == ImageLayout::kNhwc;  // position of the channels
  const auto at = [&](int64_t n, int64_t c, int64_t i, int64_t j, int64_t height, int64_t width) {
    return last ? ((n * height + i) * width + j) * spec.channels + c
                : ((n * spec.channels + c) * height + i) * width + j;
  };
  for (int64_t n = 0; n < spec.batch; ++n)
    for (int64_t c = 0; c < spec.channels; ++c)
      for (int64_t i = 0; i < spec.out_height(); ++i)
        for (int64_t j = 0; j < spec.out_width(); ++j)
          for (int64_t p = 0; p < spec.window_height; ++p)
            for (int64_t q = 0; q < spec.window_width; ++q) {
              const int64_t row = i * spec.stride + p - spec.pad;
              const int64_t column = j * spec.stride + q - spec.pad;
              if (row < 0 || row >= spec.height || column < 0 || column >= spec.width) continue;
              const Bits value =
                  static_cast<const Bits*>(x)[at(n, c, row, column, spec.height, spec.width)];
              if (!IsNotANumber(value)) continue;
              static_cast<Bits*>(y)[at(n, c, i, j, spec.out_height(), spec.out_width())] = value;
            }
}

}  // namespace

bool HasNotANumber(const Team& team, ElementType type, const void* values, size_t count) {
  return type == ElementType::kBf16 ? Has<uint16_t>(team, values, count)
                                    : Has<uint32_t>(team, values, count);
}

void KeepNotANumber(const PoolingSpec& spec, const void* x, void* y) {
  spec.type == ElementType::kBf16 ? Keep<uint16_t>(spec, x, y) : Keep<uint32_t>(spec, x, y);
}

}  // namespace recpack::train
