// Layout of a GIF up to its first image.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "recpack/base/bytes.h"

namespace recpack {

struct GifLayout {
  // Size of the canvas: the screen's, or larger if the image does not fit it.
  int width = 0;
  int height = 0;
  // First image; no size: the file ends before.
  int x = 0, y = 0, image_width = 0, image_height = 0;
  bool is_interlaced = false;
  std::vector<std::array<uint8_t, 3>> palette;  // its own, or the file's
  std::optional<uint8_t> transparent;           // index
  size_t data_at = 0;                           // offset of the LZW data

  bool has_image() const { return image_width > 0; }
};

// Throws Error (kCorrupt) for a truncated header.
GifLayout ReadGifLayout(ByteView bytes);

}  // namespace recpack
