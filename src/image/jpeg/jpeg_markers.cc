#include "src/image/jpeg/jpeg_markers.h"

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack {
namespace {

using namespace jpeg_marker;

[[noreturn]] void ThrowCut(size_t size) {
  throw Error(ErrorKind::kCorrupt, "the JPEG ends inside its header", {.offset = size});
}

bool StandsAlone(uint8_t marker) { return marker == kTem || (marker >= kRst0 && marker <= kEoi); }

}  // namespace

bool IsStartOfFrame(uint8_t marker) noexcept {
  return marker >= 0xC0 && marker <= 0xCF && marker != kDht && marker != 0xC8 && marker != 0xCC;
}

JpegSegments::JpegSegments(ByteView bytes) : bytes_(bytes) {
  if (bytes.size() < 2 || bytes[0] != 0xFF || bytes[1] != kSoi) {
    throw Error(ErrorKind::kCorrupt, "not a JPEG: it does not begin with FF D8", {.offset = 0});
  }
}

JpegSegment JpegSegments::Next() {
  const size_t size = bytes_.size();
  size_t at = position_;
  // A marker is FF followed by a byte other than 0 and FF; any number of FF may precede it.
  while (at + 1 < size && (bytes_[at] != 0xFF || bytes_[at + 1] == 0 || bytes_[at + 1] == 0xFF)) {
    ++at;
  }
  if (at + 2 > size) ThrowCut(size);
  JpegSegment segment{.marker = bytes_[at + 1], .offset = at, .end = at + 2, .payload = {}};
  if (!StandsAlone(segment.marker)) {
    if (at + 4 > size) ThrowCut(size);
    const size_t length = BigEndian16(&bytes_[at + 2]);
    if (length < 2) {
      throw Error(ErrorKind::kCorrupt,
                  format("a JPEG segment ({:02X}) has an impossible length", segment.marker),
                  {.offset = at});
    }
    segment.end = at + 2 + length;
    if (segment.end > size) ThrowCut(size);
    segment.payload = bytes_.subspan(at + 4, length - 2);
  }
  position_ = segment.end;
  return segment;
}

JpegFrame ParseJpegFrame(const JpegSegment& segment) {
  const auto corrupt = [&](const char* reason) {
    return Error(ErrorKind::kCorrupt, reason, {.offset = segment.offset});
  };
  const ByteView p = segment.payload;
  if (p.size() < 6) throw corrupt("the JPEG's frame header is too short");
  JpegFrame frame{.marker = segment.marker,
                  .precision = p[0],
                  .width = BigEndian16(&p[3]),
                  .height = BigEndian16(&p[1]),
                  .component_count = p[5],
                  .components = {}};
  if (frame.width == 0) throw corrupt("the JPEG's frame header gives a width of 0");
  if (frame.component_count == 0) throw corrupt("the JPEG's frame header has no components");
  if (p.size() != 6 + size_t{3} * p[5]) {
    throw corrupt("the length of the JPEG's frame header does not match its components");
  }
  for (int i = 0; i < frame.component_count && i < 4; ++i) {
    const uint8_t* c = &p[6 + 3 * i];
    frame.components[i] = {
        .id = c[0], .h = static_cast<uint8_t>(c[1] >> 4), .v = static_cast<uint8_t>(c[1] & 15)};
    const auto& [id, h, v] = frame.components[i];
    if (h < 1 || h > 4 || v < 1 || v > 4) throw corrupt("the JPEG has invalid sampling factors");
  }
  return frame;
}

}  // namespace recpack
