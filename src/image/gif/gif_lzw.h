// Decompresses the pixels of a GIF (LZW with codes of up to 12 bits).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "recpack/base/bytes.h"

namespace recpack {

// Result of decoding: number of pixels, fewer than asked for if the data ended, and whether a code
// was invalid.
struct GifPixels {
  size_t pixels = 0;
  bool is_damaged = false;
};

// `data`: sub-blocks, each a length and its bytes, up to an empty one or the end. `min_bits`: the
// byte before them, 2 to 8 (1 is accepted as well). Writes palette indices to `out`.
GifPixels DecodeGifPixels(ByteView data, int min_bits, std::span<uint8_t> out);

}  // namespace recpack
