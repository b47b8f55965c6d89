// Images in memory, and views of their pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace recpack {

// 8-bit pixels, channels interleaved (RGBRGB... or gray), rows from top to bottom with no padding:
// pixels.size() == width * height * channels.
struct Image {
  int width = 0;
  int height = 0;
  int channels = 0;
  std::vector<uint8_t> pixels = {};

  size_t row_bytes() const noexcept { return static_cast<size_t>(width) * channels; }
  uint8_t* row(int y) noexcept { return pixels.data() + y * row_bytes(); }
  const uint8_t* row(int y) const noexcept { return pixels.data() + y * row_bytes(); }

  // Sets the size; pixels become undefined. Keeps the memory when the image shrinks.
  void Reshape(int new_width, int new_height, int new_channels) {
    width = new_width;
    height = new_height;
    channels = new_channels;
    pixels.resize(row_bytes() * static_cast<size_t>(height));
  }

  bool operator==(const Image&) const = default;
};

// Non-owning view of 8-bit pixels: channels interleaved, rows `stride` bytes apart.
template <typename Byte>
struct PixelRows {
  Byte* pixels = nullptr;
  int width = 0;
  int height = 0;
  int channels = 0;
  size_t stride = 0;  // bytes, at least width * channels

  size_t row_bytes() const noexcept { return static_cast<size_t>(width) * channels; }
  Byte* row(int y) const noexcept { return pixels + static_cast<size_t>(y) * stride; }
};
using PixelView = PixelRows<const uint8_t>;  // read-only
using PixelSpan = PixelRows<uint8_t>;        // writable

// Views all pixels of an image, which must outlive the view and keep its size.
inline PixelView ToView(const Image& image) noexcept {
  return {image.pixels.data(), image.width, image.height, image.channels, image.row_bytes()};
}
inline PixelSpan ToSpan(Image& image) noexcept {
  return {image.pixels.data(), image.width, image.height, image.channels, image.row_bytes()};
}

// Size in pixels.
struct ImageSize {
  int width = 0;
  int height = 0;
  bool operator==(const ImageSize&) const = default;
};

// Rectangle of pixels; x and y are the coordinates of its upper left corner.
struct Region {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
  bool operator==(const Region&) const = default;
};

}  // namespace recpack
