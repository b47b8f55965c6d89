// Header parsers for GIF, BMP and WebP, which are packed as they are.
#include <cstdlib>
#include <string_view>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/image/header_formats.h"

namespace recpack {
namespace {

void NeedBytes(ByteView bytes, size_t needed, const char* format_name) {
  if (bytes.size() >= needed) return;
  throw Error(ErrorKind::kCorrupt, format("the {} ends inside its header", format_name),
              {.offset = bytes.size()});
}

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

}  // namespace

ImageHeader ReadGifHeader(ByteView bytes) {
  NeedBytes(bytes, 13, "GIF");
  return {.format = ImageFormat::kGif,
          .width = LoadLittleEndian<uint16_t>(&bytes[6]),
          .height = LoadLittleEndian<uint16_t>(&bytes[8]),
          .channels = 3,
          .bit_depth = 8};
}

ImageHeader ReadBmpHeader(ByteView bytes) {
  NeedBytes(bytes, 30, "BMP");
  ImageHeader header{.format = ImageFormat::kBmp, .bit_depth = 8};
  const uint32_t info_bytes = LoadLittleEndian<uint32_t>(&bytes[14]);
  const bool old = info_bytes == 12;  // BITMAPCOREHEADER: 16-bit sizes
  const int64_t width =
      old ? LoadLittleEndian<uint16_t>(&bytes[18]) : LoadLittleEndian<int32_t>(&bytes[18]);
  // A negative height means that rows are stored from top to bottom.
  const int64_t height = old ? LoadLittleEndian<uint16_t>(&bytes[20])
                             : std::abs(int64_t{LoadLittleEndian<int32_t>(&bytes[22])});
  if (info_bytes < 12 || width <= 0 || height <= 0 || height > INT32_MAX) {
    throw Error(ErrorKind::kCorrupt, "the BMP's header contradicts itself", {.offset = 14});
  }
  header.width = static_cast<int>(width);
  header.height = static_cast<int>(height);
  header.channels = LoadLittleEndian<uint16_t>(&bytes[old ? 24 : 28]) == 32 ? 4 : 3;
  return header;
}

ImageHeader ReadWebpHeader(ByteView bytes) {
  NeedBytes(bytes, 30, "WebP");
  return ReadWebpChunk(bytes);
}

}  // namespace recpack
