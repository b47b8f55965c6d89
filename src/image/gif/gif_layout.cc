#include "src/image/gif/gif_layout.h"

#include <algorithm>

#include "src/image/checks.h"
#include "src/image/header_formats.h"

namespace recpack {
namespace {

constexpr size_t kScreenBytes = 13;  // signature and logical screen descriptor
constexpr size_t kImageBytes = 10;   // image descriptor with its separator
constexpr uint8_t kExtension = 0x21, kImage = 0x2C, kGraphicControl = 0xF9;
constexpr uint8_t kHasPalette = 0x80, kInterlaced = 0x40, kTransparent = 0x01;

int Load16(ByteView bytes, size_t at) { return LoadLittleEndian<uint16_t>(&bytes[at]); }

// Reads a palette if the flags say that there is one; returns the offset behind it, past the end of
// the file if it is cut off.
size_t ReadPalette(ByteView bytes, size_t at, uint8_t flags, GifLayout& layout) {
  if ((flags & kHasPalette) == 0) return at;
  const size_t colours = size_t{2} << (flags & 7);
  const size_t end = at + 3 * colours;
  if (end > bytes.size()) return end;
  layout.palette.clear();
  for (; at < end; at += 3) layout.palette.push_back({bytes[at], bytes[at + 1], bytes[at + 2]});
  return end;
}

// Reads an extension; returns the offset behind it.
size_t ReadExtension(ByteView bytes, size_t at, GifLayout& layout) {
  const bool control = at + 7 < bytes.size() && bytes[at + 1] == kGraphicControl;
  if (control) {
    layout.transparent =
        (bytes[at + 3] & kTransparent) != 0 ? std::optional(bytes[at + 6]) : std::nullopt;
  }
  at += 2;
  while (at < bytes.size() && bytes[at] != 0) at += size_t{1} + bytes[at];
  return at + 1;
}

void ReadImage(ByteView bytes, size_t at, GifLayout& layout) {
  const int width = Load16(bytes, at + 5), height = Load16(bytes, at + 7);
  const uint8_t flags = bytes[at + 9];
  layout.data_at = ReadPalette(bytes, at + kImageBytes, flags, layout);
  if (layout.data_at >= bytes.size() || width == 0 || height == 0) return;
  layout.x = Load16(bytes, at + 1);
  layout.y = Load16(bytes, at + 3);
  layout.image_width = width;
  layout.image_height = height;
  layout.is_interlaced = (flags & kInterlaced) != 0;
  layout.width = std::max(layout.width, layout.x + width);
  layout.height = std::max(layout.height, layout.y + height);
}

}  // namespace

GifLayout ReadGifLayout(ByteView bytes) {
  CheckHeaderBytes(bytes, kScreenBytes, "GIF");
  GifLayout layout{.width = Load16(bytes, 6), .height = Load16(bytes, 8)};
  size_t at = ReadPalette(bytes, kScreenBytes, bytes[10], layout);
  while (at < bytes.size()) {
    if (bytes[at] == kImage) {
      if (at + kImageBytes < bytes.size()) ReadImage(bytes, at, layout);
      return layout;
    }
    if (bytes[at] != kExtension) return layout;
    at = ReadExtension(bytes, at, layout);
  }
  return layout;
}

ImageHeader ReadGifHeader(ByteView bytes) {
  const GifLayout layout = ReadGifLayout(bytes);
  return {.format = ImageFormat::kGif,
          .width = layout.width,
          .height = layout.height,
          .channels = 3,
          .bit_depth = 8};
}

}  // namespace recpack
