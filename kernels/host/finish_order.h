// Byte permutations for sixteen pixels, from source layout to result layout.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/host/finish_plan.h"

namespace recpack {

constexpr size_t ElementSize(ElementType type) {
  return type == ElementType::kU8 ? 1 : (type == ElementType::kF32 ? 4 : 2);
}

// `kInPlanar` and `kOutPlanar`: sixteen bytes per channel, not interleaved.
template <int kChannels, bool kInPlanar, bool kOutPlanar, ElementType kType>
struct FinishForm {
  static constexpr int channels = kChannels;
  static constexpr bool in_planar = kInPlanar;
  static constexpr bool out_planar = kOutPlanar;
  static constexpr ElementType type = kType;
  static constexpr size_t element_bytes = ElementSize(kType);
};

// Source byte of each byte of the result.
template <int kChannels>
using FinishOrder = std::array<uint8_t, size_t{kChannels} * kFinishStep>;

template <class Form, bool kFlip>
constexpr FinishOrder<Form::channels> MakeOrder() {
  FinishOrder<Form::channels> order{};
  for (int i = 0; i < Form::channels * kFinishStep; ++i) {
    const int to = Form::out_planar ? i % kFinishStep : i / Form::channels;
    const int channel = Form::out_planar ? i / kFinishStep : i % Form::channels;
    const int pixel = kFlip ? kFinishStep - 1 - to : to;
    order[static_cast<size_t>(i)] = static_cast<uint8_t>(
        Form::in_planar ? channel * kFinishStep + pixel : pixel * Form::channels + channel);
  }
  return order;
}

// Tells whether no byte moves.
template <class Form, bool kFlip>
constexpr bool KeepsOrder() {
  return !kFlip && (Form::channels == 1 || Form::in_planar == Form::out_planar);
}

#if defined(__x86_64__)
// The permutation as PSHUFB masks: of[j][k] selects the bytes of register k that go to register j.
template <int kChannels>
struct FinishShuffles {
  alignas(16) int8_t of[kChannels][kChannels][16];
};

template <int kChannels>
constexpr FinishShuffles<kChannels> MakeShuffles(const FinishOrder<kChannels>& order) {
  FinishShuffles<kChannels> shuffles{};
  for (int i = 0; i < kChannels * 16; ++i) {
    const int from = order[static_cast<size_t>(i)];
    for (int k = 0; k < kChannels; ++k) {
      shuffles.of[i / 16][k][i % 16] = static_cast<int8_t>(from / 16 == k ? from % 16 : -1);
    }
  }
  return shuffles;
}
#endif

}  // namespace recpack
