#include <string_view>

#include "recpack/base/error.h"
#include "src/image/header_formats.h"
#include "src/image/jpeg/exif.h"
#include "src/image/jpeg/jpeg_markers.h"

namespace recpack {
namespace {

constexpr std::string_view kSignature("\x89PNG\r\n\x1A\n", 8);
constexpr size_t kHeaderEnd = 8 + 8 + 13 + 4;  // signature, IHDR with length, name and CRC

// Returns the channels of PNG colour types 0, 2, 3 (palette), 4 and 6; 0 for unknown types.
int CountChannels(uint8_t colour_type) {
  constexpr int kChannels[] = {1, 0, 3, 3, 2, 0, 4};
  return colour_type < 7 ? kChannels[colour_type] : 0;
}

// Returns the orientation in an eXIf chunk before the pixels, within the given bytes; 1 if there is
// none.
int FindOrientation(ByteView bytes) {
  size_t at = kHeaderEnd;
  while (at + 12 <= bytes.size()) {
    const size_t length = BigEndian32(&bytes[at]);
    const std::string_view name = AsText(bytes.subspan(at + 4, 4));
    if (name == "IDAT" || length > bytes.size() - at - 12) return 1;
    if (name == "eXIf") return ExifOrientation(bytes.subspan(at + 8, length));
    at += 12 + length;
  }
  return 1;
}

}  // namespace

ImageHeader ReadPngHeader(ByteView bytes) {
  if (bytes.size() < kHeaderEnd) {
    throw Error(ErrorKind::kCorrupt, "the PNG ends inside its header", {.offset = bytes.size()});
  }
  if (!AsText(bytes).starts_with(kSignature)) {
    throw Error(ErrorKind::kCorrupt,
                "the PNG's signature is damaged, as by a transfer that changed line endings",
                {.offset = 0});
  }
  const uint32_t width = BigEndian32(&bytes[16]);
  const uint32_t height = BigEndian32(&bytes[20]);
  const int channels = CountChannels(bytes[25]);
  constexpr uint32_t kMaxSide = 0x7FFFFFFF;
  if (AsText(bytes.subspan(12, 4)) != "IHDR" || width == 0 || height == 0 || width > kMaxSide ||
      height > kMaxSide || channels == 0) {
    throw Error(ErrorKind::kCorrupt, "the PNG's header (IHDR) contradicts itself", {.offset = 8});
  }
  return {.format = ImageFormat::kPng,
          .width = static_cast<int>(width),
          .height = static_cast<int>(height),
          .channels = channels,
          .bit_depth = bytes[24],
          .progressive = bytes[28] != 0,
          .orientation = FindOrientation(bytes)};
}

}  // namespace recpack
