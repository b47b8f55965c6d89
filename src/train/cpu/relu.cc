#include "src/train/cpu/relu.h"

#include <algorithm>

#include "src/train/cpu/onednn.h"

namespace recpack::train {
namespace {

constexpr size_t kReluElements = 16384;  // per thread
constexpr uint16_t kSignBit = 0x8000, kInfinityBits = 0x7f80;

float Rectify(float x) { return x < 0 ? 0 : x; }
// Works on the bits of a bf16.
uint16_t Rectify(uint16_t x) {
  const bool number = (x & ~kSignBit) <= kInfinityBits;
  return (x & kSignBit) && number ? 0 : x;
}

template <typename T>
void Each(const Team& team, const Tensor& x, const Tensor& y) {
  const auto count = static_cast<size_t>(x.elements());
  const T* const from = x.As<T>();
  T* const to = y.As<T>();
  team.For((count + kReluElements - 1) / kReluElements, [=](size_t part) {
    const size_t begin = part * kReluElements;
    const size_t end = std::min(count, begin + kReluElements);
    for (size_t i = begin; i < end; ++i) to[i] = Rectify(from[i]);
  });
}

}  // namespace

void Relu(const Team& team, const Tensor& x, const Tensor& y) {
  DnnlType(x.type);  // throws for other types
  x.type == ElementType::kBf16 ? Each<uint16_t>(team, x, y) : Each<float>(team, x, y);
}

}  // namespace recpack::train
