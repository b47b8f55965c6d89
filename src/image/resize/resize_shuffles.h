// Byte shuffle masks for the resize kernels, by the number of channels.
#pragma once

#include <array>
#include <cstdint>

namespace recpack {

// Source index of each byte, or kShuffleZero.
using Shuffle = std::array<uint8_t, 16>;
constexpr uint8_t kShuffleZero = 255;

// Makes one mask for each of 1 to 4 channels; source(i, channels) returns the source index of byte
// i, or -1 for zero.
template <typename Source>
constexpr std::array<Shuffle, 4> MakeShuffles(Source source) {
  std::array<Shuffle, 4> shuffles{};
  for (int channels = 1; channels <= 4; ++channels) {
    for (int i = 0; i < 16; ++i) {
      const int from = source(i, channels);
      shuffles[static_cast<size_t>(channels - 1)][static_cast<size_t>(i)] =
          from < 0 ? kShuffleZero : static_cast<uint8_t>(from);
    }
  }
  return shuffles;
}

// Packs four pixels of four channels to four pixels of `channels` channels.
constexpr std::array<Shuffle, 4> kNarrowPixels = MakeShuffles(
    [](int i, int channels) { return i < 4 * channels ? i / channels * 4 + i % channels : -1; });

}  // namespace recpack
