#include "src/train/cpu/relu.h"

#include <algorithm>

#include "src/train/cpu/onednn.h"

namespace recpack::train {
namespace {

constexpr size_t kElementsAtATime = 16384;  // per thread
constexpr uint16_t kSign = 0x8000, kInfinity = 0x7f80;

float ReluOf(float x) { return x < 0 ? 0 : x; }
// Works on the bits of a bf16.
uint16_t ReluOf(uint16_t x) {
  const bool number = (x & ~kSign) <= kInfinity;
  return (x & kSign) && number ? 0 : x;
}

template <typename T>
void Each(const Team& team, const Tensor& x, const Tensor& y) {
  const auto count = static_cast<size_t>(x.elements());
  const T* const from = x.As<T>();
  T* const to = y.As<T>();
  team.For((count + kElementsAtATime - 1) / kElementsAtATime, [=](size_t part) {
    const size_t begin = part * kElementsAtATime;
    const size_t end = std::min(count, begin + kElementsAtATime);
    for (size_t i = begin; i < end; ++i) to[i] = ReluOf(from[i]);
  });
}

}  // namespace

void Relu(const Team& team, const Tensor& x, const Tensor& y) {
  DnnlType(x.type);  // throws for other types
  x.type == ElementType::kBf16 ? Each<uint16_t>(team, x, y) : Each<float>(team, x, y);
}

}  // namespace recpack::train
