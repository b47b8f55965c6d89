// Forms of activations that the kernels of batch normalisation take: element types and vectors.
#pragma once

#include <cstdint>

#include "src/train/cuda/kernels/kernels.h"
#include "src/train/cuda/kernels/launch.h"

namespace recpack::train {

// Tells whether adjacent elements can be processed as vectors.
inline bool InVectors(const ByChannel& shape, int vector) {
  const int64_t row = shape.layout == ImageLayout::kNhwc ? shape.channels : shape.plane;
  return row % vector == 0;
}

inline uint32_t ElementCount(const ByChannel& shape) {
  return Count32(shape.batch * shape.channels * shape.plane);
}

// Calls body(T{}, vector length) as the shape and the pointers' alignment allow.
template <typename Body, typename... Pointers>
void InForm(const ByChannel& shape, const Body& body, const Pointers*... pointers) {
  AsElement(shape.type, [&](auto element) {
    using T = decltype(element);
    const bool vectors = InVectors(shape, kVector<T>) && Aligned(pointers...);
    AsVector<T>(vectors, [&](auto count) { body(element, count); });
  });
}

}  // namespace recpack::train
