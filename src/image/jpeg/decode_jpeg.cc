#include "src/image/jpeg/decode_jpeg.h"

#include <algorithm>
#include <array>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack {
namespace {

// Rows passed to libjpeg at a time; it fills at most one row of MCUs per call.
constexpr int kRowsPerCall = 16;

void ReadRows(jpeg_decompress_struct& info, Image& out) {
  JSAMPROW rows[kRowsPerCall];
  while (info.output_scanline < info.output_height) {
    const int first = static_cast<int>(info.output_scanline);
    const int count = std::min(kRowsPerCall, out.height - first);
    for (int i = 0; i < count; ++i) rows[i] = out.row(first + i);
    jpeg_read_scanlines(&info, rows, static_cast<JDIMENSION>(count));
  }
}

void ReadCmykRows(jpeg_decompress_struct& info, uint8_t* cmyk, Image& out) {
  JSAMPROW row = cmyk;
  for (int y = 0; y < out.height; ++y) {
    jpeg_read_scanlines(&info, &row, 1);
    CmykToRgb(cmyk, static_cast<size_t>(out.width), out.row(y));
  }
}

// Selects libjpeg's output colour space and returns the number of channels of the result.
int ChooseColours(jpeg_decompress_struct& info, PixelLayout layout) {
  if (info.num_components == 4) {
    info.out_color_space = JCS_CMYK;
    return 3;
  }
  if (info.num_components == 2 || info.num_components > 4) {
    throw Error(
        ErrorKind::kUnsupported,
        format("a JPEG with {} components has an unknown colour space", info.num_components));
  }
  const bool gray = info.num_components == 1 && layout == PixelLayout::kAsStored;
  info.out_color_space = gray ? JCS_GRAYSCALE : JCS_RGB;
  return gray ? 1 : 3;
}

}  // namespace

int SetUpJpeg(JpegReader& reader, const DecodeOptions& options) {
  jpeg_decompress_struct& info = reader.info();
  const int channels = ChooseColours(info, options.layout);
  info.dct_method = options.fast_dct ? JDCT_IFAST : JDCT_ISLOW;
  info.do_fancy_upsampling = options.fancy_upsampling ? TRUE : FALSE;
  info.scale_num = 1;
  info.scale_denom = static_cast<unsigned>(options.scale_denominator);
  reader.Run([&] { jpeg_calc_output_dimensions(&info); });
  return channels;
}

void CmykToRgb(const uint8_t* cmyk, size_t pixels, uint8_t* rgb) noexcept {
  // a * b / 255, rounded: Pillow's MULDIV255.
  const auto multiply = [](int a, int b) {
    const int product = a * b + 128;
    return ((product >> 8) + product) >> 8;
  };
  for (size_t i = 0; i < pixels; ++i, cmyk += 4, rgb += 3) {
    const int key = cmyk[3];
    for (int c = 0; c < 3; ++c) {
      rgb[c] = static_cast<uint8_t>(std::max(0, key - multiply(255 - cmyk[c], key)));
    }
  }
}

void DecodeJpeg(JpegReader& reader, ByteView bytes, const DecodeOptions& options,
                ByteBuffer& scratch, Image& out) {
  reader.Open(bytes);
  reader.ReadHeader(options.max_pixels);
  const int channels = SetUpJpeg(reader, options);
  jpeg_decompress_struct& info = reader.info();
  out.Reshape(static_cast<int>(info.output_width), static_cast<int>(info.output_height), channels);
  const bool cmyk = info.out_color_space == JCS_CMYK;
  if (cmyk) scratch.resize(size_t{4} * info.output_width);
  reader.Run([&] {
    jpeg_start_decompress(&info);
    cmyk ? ReadCmykRows(info, scratch.data(), out) : ReadRows(info, out);
    jpeg_finish_decompress(&info);
  });
  if (!options.allow_damage) reader.ThrowIfDamaged();
}

}  // namespace recpack
