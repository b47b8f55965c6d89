// Parser of the header of GIFs, which are packed as they are and not decoded.
#include "src/image/checks.h"
#include "src/image/header_formats.h"

namespace recpack {

ImageHeader ReadGifHeader(ByteView bytes) {
  constexpr size_t kHeaderBytes = 13;
  CheckHeaderBytes(bytes, kHeaderBytes, "GIF");
  return {.format = ImageFormat::kGif,
          .width = LoadLittleEndian<uint16_t>(&bytes[6]),
          .height = LoadLittleEndian<uint16_t>(&bytes[8]),
          .channels = 3,
          .bit_depth = 8};
}

}  // namespace recpack
