// Byte shuffles of 16 bytes for the kernels of a resize, by the number of channels.
#pragma once

#include <array>
#include <cstdint>

namespace recpack {

// What to put at each place: the index of a byte, or kShuffleZero.
using Shuffle = std::array<uint8_t, 16>;
constexpr uint8_t kShuffleZero = 255;

// One for each of 1 to 4 channels; source(i, channels) is the index for place i, or -1 for a zero.
template <typename Source>
constexpr std::array<Shuffle, 4> ShufflesOf(Source source) {
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

// Four pixels of four channels to their own count.
constexpr std::array<Shuffle, 4> kNarrowPixels = ShufflesOf(
    [](int i, int channels) { return i < 4 * channels ? i / channels * 4 + i % channels : -1; });

}  // namespace recpack
