#include "recpack/image/header.h"

#include <string_view>

#include "src/image/header_formats.h"

namespace recpack {
namespace {

bool BeginsWith(ByteView bytes, std::string_view magic, size_t at = 0) {
  return bytes.size() >= at + magic.size() && AsText(bytes.subspan(at, magic.size())) == magic;
}

}  // namespace

const char* ImageFormatName(ImageFormat type) {
  switch (type) {
    case ImageFormat::kJpeg:
      return "jpeg";
    case ImageFormat::kPng:
      return "png";
    case ImageFormat::kGif:
      return "gif";
    case ImageFormat::kBmp:
      return "bmp";
    case ImageFormat::kWebp:
      return "webp";
    case ImageFormat::kUnknown:
      break;
  }
  return "unknown";
}

ImageHeader ReadImageHeader(ByteView bytes) {
  if (BeginsWith(bytes, "\xFF\xD8")) return ReadJpegHeader(bytes);
  if (BeginsWith(bytes, "\x89PNG")) return ReadPngHeader(bytes);
  if (BeginsWith(bytes, "GIF87a") || BeginsWith(bytes, "GIF89a")) return ReadGifHeader(bytes);
  if (BeginsWith(bytes, "RIFF") && BeginsWith(bytes, "WEBP", 8)) return ReadWebpHeader(bytes);
  // "BM" alone is too weak: also check the four zero bytes of every BMP.
  if (BeginsWith(bytes, "BM") && BeginsWith(bytes, std::string_view("\0\0\0\0", 4), 6)) {
    return ReadBmpHeader(bytes);
  }
  return {};
}

}  // namespace recpack
