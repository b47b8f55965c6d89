#include <string_view>

#include "recpack/base/error.h"
#include "src/image/header_formats.h"
#include "src/image/jpeg/exif.h"
#include "src/image/jpeg/jpeg_markers.h"

namespace recpack {
namespace {

constexpr std::string_view kExifSignature("Exif\0\0", 6);

bool IsExif(const JpegSegment& segment) {
  return segment.marker == jpeg_marker::kApp1 &&
         AsText(segment.payload).starts_with(kExifSignature);
}

}  // namespace

ImageHeader ReadJpegHeader(ByteView bytes) {
  ImageHeader header{.format = ImageFormat::kJpeg};
  JpegSegments segments(bytes);
  while (true) {
    const JpegSegment segment = segments.Next();
    if (IsExif(segment)) {
      header.orientation = ExifOrientation(segment.payload.subspan(kExifSignature.size()));
    }
    if (segment.marker == jpeg_marker::kSos || segment.marker == jpeg_marker::kEoi) {
      throw Error(ErrorKind::kCorrupt, "the JPEG has no frame header", {.offset = segment.offset});
    }
    if (!IsStartOfFrame(segment.marker)) continue;
    const JpegFrame frame = ParseJpegFrame(segment);
    if (frame.height == 0) {
      throw Error(ErrorKind::kUnsupported, "the JPEG has its height after the first scan",
                  {.offset = segment.offset});
    }
    header.width = frame.width;
    header.height = frame.height;
    header.channels = frame.component_count;
    header.bit_depth = frame.precision;
    // SOF2, 6, 10 and 14 are progressive (T.81, table B.1).
    header.progressive = (frame.marker & 3) == 2;
    return header;
  }
}

}  // namespace recpack
