#include "recpack/image/decode.h"

#include <algorithm>
#include <string>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/image/channels.h"
#include "recpack/image/header.h"
#include "src/base/format.h"
#include "src/image/avif/avif.h"
#include "src/image/bmp/bmp.h"
#include "src/image/checks.h"
#include "src/image/gif/gif.h"
#include "src/image/jpeg/decode_jpeg.h"
#include "src/image/jpeg/jpeg_sequential.h"
#include "src/image/png/decode_png.h"
#include "src/image/tiff/tiff.h"
#include "src/image/webp/webp.h"

namespace recpack {

struct ImageDecoder::State {
  JpegReader jpeg;
  SequentialJpeg sequential;
  ByteBuffer scratch;
};

ImageDecoder::ImageDecoder() : state_(std::make_unique<State>()) {}
ImageDecoder::~ImageDecoder() = default;
ImageDecoder::ImageDecoder(ImageDecoder&&) noexcept = default;
ImageDecoder& ImageDecoder::operator=(ImageDecoder&&) noexcept = default;

namespace {

// Describes the first bytes, as text or in hexadecimal.
std::string DescribeStart(ByteView bytes) {
  if (bytes.empty()) return "it is empty";
  const ByteView first = bytes.first(std::min<size_t>(bytes.size(), 12));
  const auto is_text = [](uint8_t c) { return c >= 32 && c < 127; };
  if (std::ranges::all_of(first, is_text)) return format("it begins with '{}'", AsText(first));
  std::string text = "it begins with the bytes";
  for (const uint8_t byte : first) text += format(" {:02x}", byte);
  return text;
}

// Replaces RGB by its luma.
void KeepLuma(Image& image) {
  const size_t pixels = static_cast<size_t>(image.width) * static_cast<size_t>(image.height);
  for (size_t i = 0; i < pixels; ++i) {
    image.pixels[i] = Luma(&image.pixels[3 * i]);
  }
  image.Reshape(image.width, image.height, 1);
}

}  // namespace

void RefuseNotDecoded(ByteView bytes, const ImageHeader& header) {
  if (header.format == ImageFormat::kUnknown) {
    throw Error(ErrorKind::kCorrupt, "is not an image: " + DescribeStart(bytes), {},
                "leave it out; the loader can put another record in its place");
  }
  if (header.width < 1 || header.height < 1) {
    throw Error(ErrorKind::kCorrupt, format("is a {} whose header is cut off or damaged",
                                            ImageFormatName(header.format)));
  }
}

void ImageDecoder::Decode(ByteView bytes, const DecodeOptions& options, Image& out) {
  CheckScale(options);
  const ImageHeader header = ReadImageHeader(bytes);
  RefuseNotDecoded(bytes, header);
  if (options.scale_denominator != 1 && header.format != ImageFormat::kJpeg) {
    throw Error(ErrorKind::kUnsupported, "only JPEGs can be decoded at a fraction of their size",
                {}, "set scale_denominator to 1");
  }
  const bool may_be_wide =
      header.format == ImageFormat::kPng || header.format == ImageFormat::kTiff;
  if (options.layout == PixelLayout::kOne16 && !may_be_wide) RefuseNotWideGray();
  switch (header.format) {
    case ImageFormat::kJpeg:
      if (state_->sequential.Decode(bytes, nullptr, options, state_->jpeg, out)) break;
      DecodeJpeg(state_->jpeg, bytes, options, state_->scratch, out);
      break;
    case ImageFormat::kPng:
      DecodePng(bytes, options, out);
      break;
    case ImageFormat::kWebp:
      DecodeWebp(bytes, options, out);
      break;
    case ImageFormat::kBmp:
      DecodeBmp(bytes, options, out);
      break;
    case ImageFormat::kGif:
      DecodeGif(bytes, options, out);
      break;
    case ImageFormat::kAvif:
      DecodeAvif(bytes, options, out);
      break;
    case ImageFormat::kTiff:
      DecodeTiff(bytes, options, out);
      break;
    case ImageFormat::kUnknown:
      break;  // refused above
  }
  if (options.layout == PixelLayout::kOne && out.channels == 3) KeepLuma(out);
  if (options.apply_orientation) out = ApplyOrientation(std::move(out), header.orientation);
}

Image DecodeImage(ByteView bytes, const DecodeOptions& options) {
  Image image;
  ImageDecoder().Decode(bytes, options, image);
  return image;
}

}  // namespace recpack
