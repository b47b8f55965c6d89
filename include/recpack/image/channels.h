// Converts between numbers of channels: gray, RGB and RGBA.
#pragma once

#include <cstdint>

#include "recpack/image/image.h"

namespace recpack {

// Returns the luma of Pillow's convert("L"): ITU-R 601-2 in 16 bits.
inline uint8_t Luma(const uint8_t* rgb) noexcept {
  return static_cast<uint8_t>((rgb[0] * 19595U + rgb[1] * 38470U + rgb[2] * 7471U + 0x8000U) >> 16);
}

// Converts `from` of 1, 3 or 4 channels to `channels`, 1 or 3: gray is repeated, colours become
// their luma, alpha is dropped, as ImageDecoder converts what it decodes.
void ConvertChannels(const PixelView& from, int channels, Image& out);

}  // namespace recpack
