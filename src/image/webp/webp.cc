#include "src/image/webp/webp.h"

#include <webp/decode.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "recpack/base/error.h"
#include "src/image/checks.h"
#include "src/image/header_formats.h"
#include "src/image/jpeg/exif.h"

namespace recpack {
namespace {

constexpr size_t kFirstChunk = 12, kChunkHeader = 8;
constexpr uint8_t kHasExif = 0x08;

uint32_t LittleEndian24(const uint8_t* from) {
  return LoadLittleEndian<uint16_t>(from) | uint32_t{from[2]} << 16;
}

// Parses the first chunk, of one of three kinds (RFC 9649, sections 2.5 to 2.7).
ImageHeader ReadWebpChunk(ByteView bytes) {
  const std::string_view kind = AsText(bytes.subspan(12, 4));
  ImageHeader header{.format = ImageFormat::kWebp, .bit_depth = 8};
  if (kind == "VP8 ") {
    header.width = LoadLittleEndian<uint16_t>(&bytes[26]) & 0x3FFF;
    header.height = LoadLittleEndian<uint16_t>(&bytes[28]) & 0x3FFF;
    header.channels = 3;
  } else if (kind == "VP8L") {
    const uint32_t bits = LoadLittleEndian<uint32_t>(&bytes[21]);
    header.width = static_cast<int>(bits & 0x3FFF) + 1;
    header.height = static_cast<int>(bits >> 14 & 0x3FFF) + 1;
    header.channels = (bits >> 28 & 1) != 0 ? 4 : 3;
  } else if (kind == "VP8X") {
    header.width = static_cast<int>(LittleEndian24(&bytes[24])) + 1;
    header.height = static_cast<int>(LittleEndian24(&bytes[27])) + 1;
    header.channels = (bytes[20] & 0x10) != 0 ? 4 : 3;
  } else {
    throw Error(ErrorKind::kCorrupt, "the WebP's first chunk has an unknown type", {.offset = 12});
  }
  return header;
}

// Finds the orientation in the chunk EXIF, which may begin with JPEG's "Exif\0\0".
int FindOrientation(ByteView bytes) {
  for (size_t at = kFirstChunk; at + kChunkHeader <= bytes.size();) {
    const size_t size = LoadLittleEndian<uint32_t>(&bytes[at + 4]);
    const ByteView rest = bytes.subspan(at + kChunkHeader);
    if (AsText(bytes.subspan(at, 4)) == "EXIF") {
      ByteView exif = rest.first(std::min(size, rest.size()));
      constexpr std::string_view kPrefix("Exif\0\0", 6);
      if (AsText(exif).starts_with(kPrefix)) exif = exif.subspan(kPrefix.size());
      return ExifOrientation(exif);
    }
    if (size > rest.size()) break;
    at += kChunkHeader + size + size % 2;
  }
  return 1;
}

// Decodes what there is of a file that is cut off or damaged; the rest of the image is gray.
void DecodeDamaged(ByteView bytes, Image& out) {
  std::ranges::fill(out.pixels, kGrey);
  const std::unique_ptr<WebPIDecoder, decltype(&WebPIDelete)> decoder(
      WebPINewRGB(MODE_RGB, out.pixels.data(), out.pixels.size(),
                  static_cast<int>(out.row_bytes())),
      &WebPIDelete);
  if (!decoder) throw std::bad_alloc();
  WebPIUpdate(decoder.get(), bytes.data(), bytes.size());
}

}  // namespace

ImageHeader ReadWebpHeader(ByteView bytes) {
  constexpr size_t kHeaderBytes = 30;
  CheckHeaderBytes(bytes, kHeaderBytes, "WebP");
  ImageHeader header = ReadWebpChunk(bytes);
  const bool has_exif = AsText(bytes.subspan(12, 4)) == "VP8X" && (bytes[20] & kHasExif) != 0;
  if (has_exif) header.orientation = FindOrientation(bytes);
  return header;
}

void DecodeWebp(ByteView bytes, const DecodeOptions& options, Image& out) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(bytes.data(), bytes.size(), &features) != VP8_STATUS_OK) {
    throw Error(ErrorKind::kCorrupt, "libwebp: the header is damaged");
  }
  if (features.has_animation != 0) {
    throw Error(ErrorKind::kUnsupported, "is an animated WebP, which has no single image", {},
                "pack its frames as images");
  }
  CheckPixels(static_cast<uint64_t>(features.width), static_cast<uint64_t>(features.height),
              options.max_pixels);
  out.Reshape(features.width, features.height, 3);
  if (options.allow_damage) return DecodeDamaged(bytes, out);
  if (WebPDecodeRGBInto(bytes.data(), bytes.size(), out.pixels.data(), out.pixels.size(),
                        static_cast<int>(out.row_bytes())) == nullptr) {
    throw Error(ErrorKind::kCorrupt, "libwebp: the data is cut off or damaged");
  }
}

}  // namespace recpack
