// Extraction of small JPEGs from a tiled JPEG (docs/format/jpeg-tile.md).
#pragma once

#include "recpack/image/image.h"
#include "src/image/jpeg/jpeg_markers.h"

namespace recpack {

// Layout of a tiled JPEG.
struct TiledJpeg {
  JpegFrame frame;
  size_t frame_offset = 0;             // offset of the SOF marker in `header`
  size_t scan = 0;                     // offset of the entropy-coded data in the file
  int mcu_width = 0, mcu_height = 0;   // pixels
  int segment_width = 0;               // pixels; the last segment of a row may be narrower
  int segments_per_row = 0, rows = 0;  // rows of MCUs
  ByteBuffer header;                   // marker segments needed for decoding, SOI to SOS
};

// Parses the header. Returns false unless `jpeg` is an 8-bit sequential Huffman-coded JPEG whose
// first scan has all components and whose restart interval divides the MCUs of a row. Throws Error
// (kCorrupt) if the header is truncated. Reuses the buffer of `out`.
bool ParseTiledJpeg(ByteView jpeg, TiledJpeg& out);

// Writes to `file` a JPEG that contains the segments touched by `wanted` and a margin, and sets
// `shown` to the rectangle of the original that it shows. Both regions are in pixels of an image
// decoded at 1/scale_denominator. The margin ensures that all pixels of `wanted` decode as they do
// from the whole file. Returns false, with undefined contents of `file`, if restart markers are
// missing or out of order.
bool CutSegments(ByteView jpeg, const TiledJpeg& tiled, const Region& wanted, int scale_denominator,
                 std::vector<size_t>& boundaries, ByteBuffer& file, Region& shown);

}  // namespace recpack
