#include "src/image/tiff/tiff.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/image/checks.h"
#include "src/image/header_formats.h"
#include "src/image/tiff/tiff_file.h"
#include "src/image/tiff/tiff_tags.h"

namespace recpack {
namespace {

void CheckLayout(const TiffLayout& layout, PixelLayout wanted) {
  const int colours = tiff::ColourChannels(layout.photometric);
  const bool known = colours > 0 && layout.photometric != tiff::kYCbCr;
  const bool integers =
      layout.sample_type == SAMPLEFORMAT_UINT || layout.sample_type == SAMPLEFORMAT_VOID;
  const bool width = layout.bits == 1 || layout.bits == 2 || layout.bits == 4 || layout.bits == 8 ||
                     layout.bits == 16;
  if (!known || !integers || !width) {
    throw Error(ErrorKind::kUnsupported,
                format("is a TIFF of {} bits, sample format {} and photometric interpretation {}",
                       layout.bits, layout.sample_type, layout.photometric),
                {}, "convert it to 8 or 16-bit gray, RGB, CMYK or a palette");
  }
  if (layout.samples < colours) {
    throw Error(ErrorKind::kCorrupt,
                format("the TIFF has {} of {} channels", layout.samples, colours));
  }
  if (wanted == PixelLayout::kOne && layout.bits == 16) {
    throw Error(ErrorKind::kUnsupported, "the TIFF has 16 bits per value, of which 8 would be lost",
                {}, "store values below 256, or decode it with your own function");
  }
}

// Sample `i` of a row, in 8 bits: palettes' indices as they are, all else scaled.
class Samples {
 public:
  explicit Samples(const TiffLayout& layout)
      : bits_(layout.bits),
        scale_(layout.photometric == tiff::kPalette || bits_ >= 8 ? 1U
                                                                  : 255U / ((1U << bits_) - 1)) {}

  uint8_t Get(const uint8_t* row, size_t i) const {
    if (bits_ == 8) return row[i];
    if (bits_ == 16) {
      uint16_t value = 0;
      std::memcpy(&value, row + 2 * i, sizeof value);
      return static_cast<uint8_t>((value * 255U + 32767) / 65535);
    }
    const size_t bit = i * bits_;
    const unsigned value = row[bit / 8] >> (8 - bits_ - bit % 8) & ((1U << bits_) - 1);
    return static_cast<uint8_t>(value * scale_);
  }

 private:
  unsigned bits_, scale_;
};

// Copies the first `raw.channels` samples of a block's pixels, or all of one plane.
void CopyBlock(const TiffBlock& block, const TiffLayout& layout, uint16_t plane, Image& raw) {
  const Samples samples(layout);
  const auto channels = static_cast<size_t>(raw.channels);
  const size_t from_stride = layout.planes ? 1 : layout.samples;
  const size_t first = layout.planes ? plane : 0, last = layout.planes ? plane + 1U : channels;
  for (uint32_t y = 0; y < block.height; ++y) {
    const uint8_t* const from = block.data + y * block.row_bytes;
    uint8_t* const to = raw.row(static_cast<int>(block.y + y)) + block.x * channels;
    for (size_t x = 0; x < block.width; ++x) {
      for (size_t c = first; c < last; ++c)
        to[x * channels + c] = samples.Get(from, x * from_stride + c - first);
    }
  }
}

// 16-bit values, the low byte first.
void CopyWide(const TiffBlock& block, const TiffLayout& layout, Image& out) {
  const bool inverted = layout.photometric == tiff::kWhiteIsZero;
  for (uint32_t y = 0; y < block.height; ++y) {
    const uint8_t* const from = block.data + y * block.row_bytes;
    uint8_t* const to = out.row(static_cast<int>(block.y + y)) + size_t{block.x} * 2;
    for (size_t x = 0; x < block.width; ++x) {
      uint16_t value = 0;
      std::memcpy(&value, from + 2 * x * layout.samples, sizeof value);
      if (inverted) value = static_cast<uint16_t>(65535 - value);
      to[2 * x] = static_cast<uint8_t>(value & 255);
      to[2 * x + 1] = static_cast<uint8_t>(value >> 8);
    }
  }
}

// Calls `copy` with each block of a plane; leaves out damaged ones if that is allowed.
template <typename Copy>
void ForEachBlock(TiffFile& file, uint16_t plane, const DecodeOptions& options, Copy&& copy) {
  for (uint64_t y = 0; y < file.layout().height; y += file.block_height()) {
    for (uint64_t x = 0; x < file.layout().width; x += file.block_width()) {
      try {
        copy(file.Read(static_cast<uint32_t>(x), static_cast<uint32_t>(y), plane));
      } catch (const Error&) {
        if (!options.allow_damage) throw;
      }
    }
  }
}

void DecodeWide(TiffFile& file, const DecodeOptions& options, Image& out) {
  const TiffLayout& layout = file.layout();
  if (layout.bits != 16 || layout.photometric > tiff::kBlackIsZero) RefuseNotWideGray();
  out.Reshape(static_cast<int>(layout.width), static_cast<int>(layout.height), 2);
  if (options.allow_damage) std::ranges::fill(out.pixels, uint8_t{0});
  // Alpha in planes of its own has its own blocks, in which samples stand alone.
  TiffLayout alone = layout;
  if (layout.planes) alone.samples = 1;
  ForEachBlock(file, 0, options, [&](const TiffBlock& block) { CopyWide(block, alone, out); });
}

// All samples that hold colour, and alpha if the colours were multiplied by it.
Image ReadSamples(TiffFile& file, const DecodeOptions& options) {
  const TiffLayout& layout = file.layout();
  const int colours = tiff::ColourChannels(layout.photometric);
  const bool alpha = layout.premultiplied && layout.samples > colours;
  Image raw;
  raw.Reshape(static_cast<int>(layout.width), static_cast<int>(layout.height),
              colours + (alpha ? 1 : 0));
  if (options.allow_damage) std::ranges::fill(raw.pixels, kGrey);
  const auto planes = static_cast<uint16_t>(layout.planes ? raw.channels : 1);
  for (uint16_t plane = 0; plane < planes; ++plane) {
    ForEachBlock(file, plane, options,
                 [&](const TiffBlock& block) { CopyBlock(block, layout, plane, raw); });
  }
  return raw;
}

// By Pillow's rounding: x * y / 255.
unsigned Times(unsigned x, unsigned y) {
  const unsigned product = x * y + 128;
  return ((product >> 8) + product) >> 8;
}

uint8_t Unmultiplied(unsigned value, unsigned alpha) {
  return static_cast<uint8_t>(alpha == 0 ? 0 : std::min(255U, value * 255 / alpha));
}

// Pixels of `channels` (1 or 3) from a raw pixel, by pixel.
void Convert(const TiffLayout& layout, const uint8_t* from, int raw_channels, uint8_t* to,
             int channels) {
  switch (layout.photometric) {
    case tiff::kPalette:
      if (channels == 1) {
        to[0] = from[0];
      } else {
        std::memcpy(to, &layout.palette[3U * from[0]], 3);
      }
      return;
    case tiff::kSeparated: {
      const unsigned light = 255U - from[3];
      for (int c = 0; c < 3; ++c)
        to[c] = static_cast<uint8_t>(light - std::min(light, Times(from[c], light)));
      return;
    }
    default: {
      const int colours = tiff::ColourChannels(layout.photometric);
      const bool alpha = raw_channels > colours;
      for (int c = 0; c < channels; ++c) {
        uint8_t value = from[colours == 1 ? 0 : c];
        if (alpha) value = Unmultiplied(value, from[colours]);
        to[c] =
            layout.photometric == tiff::kWhiteIsZero ? static_cast<uint8_t>(255 - value) : value;
      }
    }
  }
}

int ChannelsOf(const TiffLayout& layout, PixelLayout wanted) {
  const bool gray =
      layout.photometric == tiff::kWhiteIsZero || layout.photometric == tiff::kBlackIsZero;
  if (wanted == PixelLayout::kRgb) return 3;
  if (gray) return 1;
  return layout.photometric == tiff::kPalette && wanted == PixelLayout::kOne ? 1 : 3;
}

}  // namespace

void DecodeTiff(ByteView bytes, const DecodeOptions& options, Image& out) {
  const ImageHeader header = ReadTiffHeader(bytes);  // before libtiff allocates for it
  CheckPixels(static_cast<uint64_t>(header.width), static_cast<uint64_t>(header.height),
              options.max_pixels);
  TiffFile file(bytes);
  const TiffLayout& layout = file.layout();
  CheckLayout(layout, options.layout);
  CheckPixels(layout.width, layout.height, options.max_pixels);
  if (options.layout == PixelLayout::kOne16) return DecodeWide(file, options, out);
  const Image raw = ReadSamples(file, options);
  out.Reshape(raw.width, raw.height, ChannelsOf(layout, options.layout));
  const size_t pixels = static_cast<size_t>(raw.width) * static_cast<size_t>(raw.height);
  for (size_t i = 0; i < pixels; ++i) {
    Convert(layout, &raw.pixels[i * static_cast<size_t>(raw.channels)], raw.channels,
            &out.pixels[i * static_cast<size_t>(out.channels)], out.channels);
  }
}

}  // namespace recpack
