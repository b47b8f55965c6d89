#include "src/image/bmp/bmp.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <vector>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/image/checks.h"
#include "src/image/header_formats.h"

namespace recpack {
namespace {

constexpr size_t kFileHeader = 14;    // BITMAPFILEHEADER
constexpr uint32_t kCoreHeader = 12;  // BITMAPCOREHEADER
constexpr uint32_t kInfoHeader = 40;  // BITMAPINFOHEADER
constexpr uint32_t kUncompressed = 0, kMasks = 3, kMasksWithAlpha = 6;
using Colour = std::array<uint8_t, 3>;

// Bits of a pixel that hold a channel.
struct Mask {
  uint32_t bits = 0;

  uint8_t Value(uint32_t pixel) const {
    if (bits == 0) return 0;
    const int shift = std::countr_zero(bits);
    const uint64_t largest = bits >> shift;
    return static_cast<uint8_t>(((pixel & bits) >> shift) * uint64_t{255} / largest);
  }
};

struct BmpLayout {
  int width = 0;
  int height = 0;
  bool from_top = false;
  int bits = 0;          // per pixel
  size_t pixels_at = 0;  // offset
  size_t row_bytes = 0;  // stored: a multiple of 4
  std::vector<Colour> palette;
  std::array<Mask, 3> masks;  // red, green, blue; of 16 and 32 bits
};

[[noreturn]] void ThrowContradiction() {
  throw Error(ErrorKind::kCorrupt, "the BMP's header contradicts itself", {.offset = kFileHeader});
}

void NeedBytes(ByteView bytes, size_t needed) { CheckHeaderBytes(bytes, needed, "BMP"); }

void ReadPalette(ByteView bytes, uint32_t info_bytes, BmpLayout& layout) {
  const bool is_core = info_bytes == kCoreHeader;
  const size_t entry = is_core ? 3 : 4;
  size_t count = size_t{1} << layout.bits;
  if (!is_core) {
    const uint32_t used = LoadLittleEndian<uint32_t>(&bytes[46]);
    if (used > 0) count = std::min<size_t>(count, used);
  }
  const size_t at = kFileHeader + info_bytes;
  NeedBytes(bytes, at + count * entry);
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* from = &bytes[at + i * entry];
    layout.palette.push_back({from[2], from[1], from[0]});
  }
}

// The masks follow the 40 bytes of the header, as a part of it in later versions.
void ReadMasks(ByteView bytes, uint32_t compression, BmpLayout& layout) {
  if (compression == kUncompressed) {
    layout.masks = layout.bits == 16
                       ? std::array<Mask, 3>{Mask{0x7C00}, Mask{0x3E0}, Mask{0x1F}}
                       : std::array<Mask, 3>{Mask{0xFF0000}, Mask{0xFF00}, Mask{0xFF}};
    return;
  }
  const size_t at = kFileHeader + kInfoHeader;
  NeedBytes(bytes, at + 12);
  for (size_t i = 0; i < 3; ++i)
    layout.masks[i].bits = LoadLittleEndian<uint32_t>(&bytes[at + 4 * i]);
}

BmpLayout ReadLayout(ByteView bytes) {
  const ImageHeader header = ReadBmpHeader(bytes);
  BmpLayout layout{.width = header.width, .height = header.height};
  const uint32_t info_bytes = LoadLittleEndian<uint32_t>(&bytes[14]);
  uint32_t compression = kUncompressed;
  if (info_bytes == kCoreHeader) {
    layout.bits = LoadLittleEndian<uint16_t>(&bytes[24]);
  } else {
    NeedBytes(bytes, kFileHeader + kInfoHeader);
    if (info_bytes < kInfoHeader) ThrowContradiction();
    layout.from_top = LoadLittleEndian<int32_t>(&bytes[22]) < 0;
    layout.bits = LoadLittleEndian<uint16_t>(&bytes[28]);
    compression = LoadLittleEndian<uint32_t>(&bytes[30]);
  }
  const bool has_palette = layout.bits == 1 || layout.bits == 4 || layout.bits == 8;
  const bool has_masks = layout.bits == 16 || layout.bits == 32;
  const bool is_masked = compression == kMasks || compression == kMasksWithAlpha;
  if (!has_palette && !has_masks && layout.bits != 24) ThrowContradiction();
  if (compression != kUncompressed && !(is_masked && has_masks)) {
    throw Error(ErrorKind::kUnsupported,
                format("is a BMP with compression {}; those without are decoded", compression), {},
                "convert it before packing");
  }
  if (has_palette) ReadPalette(bytes, info_bytes, layout);
  if (has_masks) ReadMasks(bytes, compression, layout);
  layout.pixels_at = LoadLittleEndian<uint32_t>(&bytes[10]);
  layout.row_bytes = (static_cast<size_t>(layout.width) * layout.bits + 31) / 32 * 4;
  return layout;
}

bool IsGray(const std::vector<Colour>& palette) {
  return std::ranges::all_of(palette, [](const Colour& c) { return c[0] == c[1] && c[1] == c[2]; });
}

bool IsBlackAndWhite(const BmpLayout& layout) {
  return layout.bits == 1 && layout.palette == std::vector<Colour>{{0, 0, 0}, {255, 255, 255}};
}

uint32_t IndexAt(const uint8_t* row, int x, int bits) {
  const int a_byte = 8 / bits;
  const int shift = 8 - bits * (x % a_byte + 1);
  return row[x / a_byte] >> shift & ((1U << bits) - 1);
}

void DecodeIndices(const uint8_t* from, const BmpLayout& layout, bool as_indices, uint8_t* to,
                   int channels) {
  for (int x = 0; x < layout.width; ++x, to += channels) {
    const uint32_t index = IndexAt(from, x, layout.bits);
    if (index >= layout.palette.size()) {
      throw Error(ErrorKind::kCorrupt,
                  format("a pixel has colour {} of {}", index, layout.palette.size()));
    }
    if (as_indices) {
      *to = static_cast<uint8_t>(index);
    } else {
      std::copy_n(layout.palette[index].begin(), channels, to);
    }
  }
}

void DecodeColours(const uint8_t* from, const BmpLayout& layout, uint8_t* to) {
  for (int x = 0; x < layout.width; ++x, to += 3) {
    if (layout.bits == 24) {
      std::reverse_copy(from + 3 * x, from + 3 * x + 3, to);
      continue;
    }
    const uint32_t pixel = layout.bits == 16 ? LoadLittleEndian<uint16_t>(from + 2 * x)
                                             : LoadLittleEndian<uint32_t>(from + 4 * x);
    for (size_t c = 0; c < 3; ++c) to[c] = layout.masks[c].Value(pixel);
  }
}

}  // namespace

ImageHeader ReadBmpHeader(ByteView bytes) {
  NeedBytes(bytes, 30);
  ImageHeader header{.format = ImageFormat::kBmp, .bit_depth = 8};
  const uint32_t info_bytes = LoadLittleEndian<uint32_t>(&bytes[14]);
  const bool old = info_bytes == kCoreHeader;  // 16-bit sizes
  const int64_t width =
      old ? LoadLittleEndian<uint16_t>(&bytes[18]) : LoadLittleEndian<int32_t>(&bytes[18]);
  // A negative height means that rows are stored from top to bottom.
  const int64_t height = old ? LoadLittleEndian<uint16_t>(&bytes[20])
                             : std::abs(int64_t{LoadLittleEndian<int32_t>(&bytes[22])});
  if (info_bytes < kCoreHeader || width <= 0 || height <= 0 || height > INT32_MAX) {
    ThrowContradiction();
  }
  header.width = static_cast<int>(width);
  header.height = static_cast<int>(height);
  header.channels = LoadLittleEndian<uint16_t>(&bytes[old ? 24 : 28]) == 32 ? 4 : 3;
  return header;
}

void DecodeBmp(ByteView bytes, const DecodeOptions& options, Image& out) {
  const BmpLayout layout = ReadLayout(bytes);
  CheckPixels(static_cast<uint64_t>(layout.width), static_cast<uint64_t>(layout.height),
              options.max_pixels);
  const uint64_t end = layout.pixels_at + static_cast<uint64_t>(layout.height) * layout.row_bytes;
  if (end > bytes.size() && !options.allow_damage) {
    throw Error(ErrorKind::kCorrupt, "the BMP ends inside its pixels", {.offset = bytes.size()});
  }
  const bool has_palette = !layout.palette.empty();
  const bool as_indices =
      options.layout == PixelLayout::kOne && has_palette && !IsBlackAndWhite(layout);
  const bool as_gray =
      options.layout != PixelLayout::kRgb && has_palette && !as_indices && IsGray(layout.palette);
  out.Reshape(layout.width, layout.height, as_indices || as_gray ? 1 : 3);
  for (int i = 0; i < layout.height; ++i) {
    const size_t at = layout.pixels_at + static_cast<size_t>(i) * layout.row_bytes;
    uint8_t* const to = out.row(layout.from_top ? i : layout.height - 1 - i);
    if (at + layout.row_bytes > bytes.size()) {
      std::fill_n(to, out.row_bytes(), kGrey);
    } else if (!has_palette) {
      DecodeColours(&bytes[at], layout, to);
    } else {
      DecodeIndices(&bytes[at], layout, as_indices, to, out.channels);
    }
  }
}

}  // namespace recpack
