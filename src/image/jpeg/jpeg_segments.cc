#include "src/image/jpeg/jpeg_segments.h"

#include <algorithm>
#include <cstring>

#include "recpack/base/error.h"
#include "recpack/image/decode.h"

namespace recpack {
namespace {

using namespace jpeg_marker;

void Append(ByteBuffer& to, ByteView bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

// JFIF and Adobe segments determine the colour space; other APPn segments and comments are not
// needed.
bool IsNeeded(uint8_t marker) {
  const bool application = marker >= kApp0 && marker <= 0xEF;
  return (!application && marker != 0xFE) || marker == kApp0 || marker == kApp14;
}

// Sets the geometry; returns false if the restart interval does not divide a row.
bool SetGeometry(int interval, TiledJpeg& tiled) {
  const JpegFrame& frame = tiled.frame;
  int max_h = 1, max_v = 1;
  // The MCU of a scan with one component is one block, regardless of its sampling factors.
  for (int c = 0; c < frame.component_count && frame.component_count > 1; ++c) {
    max_h = std::max<int>(max_h, frame.components[c].h);
    max_v = std::max<int>(max_v, frame.components[c].v);
  }
  tiled.mcu_width = 8 * max_h;
  tiled.mcu_height = 8 * max_v;
  const int mcus = (frame.width + tiled.mcu_width - 1) / tiled.mcu_width;
  if (interval == 0 || mcus % interval != 0) return false;
  tiled.segment_width = interval * tiled.mcu_width;
  tiled.segments_per_row = mcus / interval;
  tiled.rows = (frame.height + tiled.mcu_height - 1) / tiled.mcu_height;
  return true;
}

// Tells whether segments can be extracted: sequential, Huffman coded, 8 bits, with a height.
bool IsCuttable(const JpegFrame& frame) {
  return (frame.marker == kSof0 || frame.marker == kSof1) && frame.precision == 8 &&
         frame.height > 0 && frame.component_count <= 4;
}

// Columns and rows of the extracted segments, both ends included.
struct Cut {
  int first_column, last_column, first_row, last_row;
};

// Chooses the segments to extract. Smooth upsampling mixes a pixel with chroma samples up to two
// pixels away (one for scaled images, since edges of regions and of segments are multiples of the
// scale), and libjpeg disables it for components less than three samples wide: the result must be
// wider than that unless it has whole rows.
Cut ChooseCut(const TiledJpeg& tiled, const Region& wanted) {
  const int margin_x = tiled.mcu_width > 8 ? 2 : 0;
  const int margin_y = tiled.mcu_height > 8 ? 2 : 0;
  const int right = std::min(wanted.x + wanted.width + margin_x, tiled.frame.width);
  const int bottom = std::min(wanted.y + wanted.height + margin_y, tiled.frame.height);
  Cut cut{.first_column = std::max(0, wanted.x - margin_x) / tiled.segment_width,
          .last_column = (right - 1) / tiled.segment_width,
          .first_row = std::max(0, wanted.y - margin_y) / tiled.mcu_height,
          .last_row = (bottom - 1) / tiled.mcu_height};
  const int end = std::min(tiled.frame.width, (cut.last_column + 1) * tiled.segment_width);
  if (end - cut.first_column * tiled.segment_width < 2 * tiled.mcu_width) {
    if (cut.first_column > 0) {
      --cut.first_column;
    } else {
      cut.last_column = std::min(cut.last_column + 1, tiled.segments_per_row - 1);
    }
  }
  return cut;
}

Region ShownBy(const TiledJpeg& tiled, const Cut& cut) {
  const int x = cut.first_column * tiled.segment_width;
  const int y = cut.first_row * tiled.mcu_height;
  return {.x = x,
          .y = y,
          .width = std::min(tiled.frame.width, (cut.last_column + 1) * tiled.segment_width) - x,
          .height = std::min(tiled.frame.height, (cut.last_row + 1) * tiled.mcu_height) - y};
}

// Returns the offset of the next marker at or after `at` (FF00 is a data byte); size() if there is
// none.
size_t NextMarker(ByteView bytes, size_t at) {
  while (at + 1 < bytes.size()) {
    const void* found = std::memchr(&bytes[at], 0xFF, bytes.size() - 1 - at);
    if (found == nullptr) break;
    at = static_cast<size_t>(static_cast<const uint8_t*>(found) - bytes.data());
    if (bytes[at + 1] != 0) return at;
    at += 2;
  }
  return bytes.size();
}

// Sets boundaries[k] to the start of segment k, for k <= count; the last one is two bytes after the
// end of segment count - 1, as if a restart marker followed. Returns false if markers are missing
// or out of order.
bool FindSegments(ByteView jpeg, const TiledJpeg& tiled, size_t count,
                  std::vector<size_t>& boundaries) {
  const size_t all = static_cast<size_t>(tiled.rows) * static_cast<size_t>(tiled.segments_per_row);
  boundaries.assign(1, tiled.scan);
  for (size_t k = 0; k < count; ++k) {
    const size_t marker = NextMarker(jpeg, boundaries.back());
    if (marker == jpeg.size()) return false;
    const uint8_t expected = k + 1 == all ? kEoi : static_cast<uint8_t>(kRst0 + k % 8);
    if (jpeg[marker + 1] != expected) return false;
    boundaries.push_back(marker + 2);
  }
  return true;
}

void PatchSize(const TiledJpeg& tiled, const Region& shown, ByteBuffer& file) {
  uint8_t* size = &file[tiled.frame_offset + 5];
  size[0] = static_cast<uint8_t>(shown.height >> 8);
  size[1] = static_cast<uint8_t>(shown.height);
  size[2] = static_cast<uint8_t>(shown.width >> 8);
  size[3] = static_cast<uint8_t>(shown.width);
}

}  // namespace

bool ParseTiledJpeg(ByteView jpeg, TiledJpeg& out) {
  JpegSegments segments(jpeg);
  out.header.assign({0xFF, kSoi});
  out.frame = {};
  int interval = 0;
  while (true) {
    const JpegSegment segment = segments.Next();
    if (segment.marker == kEoi) return false;
    if (IsStartOfFrame(segment.marker)) {
      out.frame = ParseJpegFrame(segment);
      out.frame_offset = out.header.size();
      if (!IsCuttable(out.frame)) return false;
    }
    if (segment.marker == kDri && segment.payload.size() == 2) {
      interval = BigEndian16(segment.payload.data());
    }
    if (IsNeeded(segment.marker)) {
      Append(out.header, jpeg.subspan(segment.offset, segment.end - segment.offset));
    }
    if (segment.marker != kSos) continue;
    out.scan = segment.end;
    return out.frame.height > 0 && !segment.payload.empty() &&
           segment.payload[0] == out.frame.component_count && SetGeometry(interval, out);
  }
}

bool CutSegments(ByteView jpeg, const TiledJpeg& tiled, const Region& wanted, int scale_denominator,
                 std::vector<size_t>& boundaries, ByteBuffer& file, Region& shown) {
  const int scale = scale_denominator;
  const Cut cut = ChooseCut(
      tiled, {wanted.x * scale, wanted.y * scale, wanted.width * scale, wanted.height * scale});
  const size_t per_row = static_cast<size_t>(tiled.segments_per_row);
  const size_t last = static_cast<size_t>(cut.last_row) * per_row + cut.last_column;
  if (!FindSegments(jpeg, tiled, last + 1, boundaries)) return false;
  const Region pixels = ShownBy(tiled, cut);
  shown = {.x = pixels.x / scale,
           .y = pixels.y / scale,
           .width = ScaledLength(pixels.width, scale),
           .height = ScaledLength(pixels.height, scale)};
  file = tiled.header;
  PatchSize(tiled, pixels, file);
  unsigned number = 0;
  for (int row = cut.first_row; row <= cut.last_row; ++row) {
    const size_t first = static_cast<size_t>(row) * per_row + cut.first_column;
    const size_t end = static_cast<size_t>(row) * per_row + cut.last_column + 1;
    // Includes the marker after the row's last segment, so that every segment has one to renumber.
    const size_t base = file.size() - boundaries[first];
    Append(file, jpeg.subspan(boundaries[first], boundaries[end] - boundaries[first]));
    for (size_t k = first + 1; k <= end; ++k) {
      file[base + boundaries[k] - 1] = static_cast<uint8_t>(kRst0 + number++ % 8);
    }
  }
  file.back() = kEoi;
  return true;
}

}  // namespace recpack
