// Small JPEGs cut from one with tiled restarts (docs/format/jpeg-tile.md).
#pragma once

#include "recpack/image/image.h"
#include "src/image/jpeg/jpeg_markers.h"

namespace recpack {

// Where the parts of a tiled JPEG lie.
struct TiledJpeg {
  JpegFrame frame;
  size_t frame_offset = 0;             // of SOF's FF, in `header`
  size_t scan = 0;                     // first byte of entropy-coded data, in the file
  int mcu_width = 0, mcu_height = 0;   // pixels
  int segment_width = 0;               // pixels: of all segments but a row's last
  int segments_per_row = 0, rows = 0;  // rows of MCUs
  ByteBuffer header;                   // the segments that decoding needs, SOI to SOS
};

// Reads the header. False where `jpeg` is no 8-bit sequential Huffman-coded JPEG whose first scan
// has all components and whose restart interval divides a row's MCUs. Throws Error (kCorrupt) where
// the header is cut. `out`'s buffer is used again.
bool ParseTiledJpeg(ByteView jpeg, TiledJpeg& out);

// A JPEG of its own, in the memory of `file`, that holds the segments which `wanted` and its
// surroundings touch, and the rectangle of the original that it shows; both are in pixels of an
// image decoded at 1/scale_denominator. The surroundings are such that all pixels of `wanted`
// decode as they do from the whole file. False, with nothing of use in `file`, where restart
// markers are missing or out of order.
bool CutSegments(ByteView jpeg, const TiledJpeg& tiled, const Region& wanted, int scale_denominator,
                 std::vector<size_t>& boundaries, ByteBuffer& file, Region& shown);

}  // namespace recpack
