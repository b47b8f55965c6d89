#include "recpack/image/header.h"

#include <string_view>

#include "src/image/header_formats.h"

namespace recpack {
namespace {

bool BeginsWith(ByteView bytes, std::string_view magic, size_t at = 0) {
  return bytes.size() >= at + magic.size() && AsText(bytes.subspan(at, magic.size())) == magic;
}

// Whether a file of ISO boxes is an AVIF: one of the brands in its first box says so.
bool IsAvif(ByteView bytes) {
  if (!BeginsWith(bytes, "ftyp", 4)) return false;
  const size_t size =
      size_t{bytes[0]} << 24 | size_t{bytes[1]} << 16 | size_t{bytes[2]} << 8 | bytes[3];
  constexpr size_t kMajor = 8, kCompatible = 16;
  for (size_t at = kMajor; at < size && at < bytes.size();
       at = at == kMajor ? kCompatible : at + 4) {
    if (BeginsWith(bytes, "avif", at) || BeginsWith(bytes, "avis", at)) return true;
  }
  return false;
}

bool IsTiff(ByteView bytes) {
  return BeginsWith(bytes, {"II*\0", 4}) || BeginsWith(bytes, {"MM\0*", 4}) ||
         BeginsWith(bytes, {"II+\0", 4}) || BeginsWith(bytes, {"MM\0+", 4});
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
    case ImageFormat::kAvif:
      return "avif";
    case ImageFormat::kTiff:
      return "tiff";
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
  if (IsAvif(bytes)) return ReadAvifHeader(bytes);
  if (IsTiff(bytes)) return ReadTiffHeader(bytes);
  // "BM" alone is too weak: also check the four zero bytes of every BMP.
  if (BeginsWith(bytes, "BM") && BeginsWith(bytes, std::string_view("\0\0\0\0", 4), 6)) {
    return ReadBmpHeader(bytes);
  }
  return {};
}

}  // namespace recpack
