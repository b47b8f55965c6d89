// What an image file says of itself in its first bytes.
#pragma once

#include <cstdint>

#include "recpack/base/bytes.h"

namespace recpack {

enum class ImageFormat : uint8_t { kUnknown, kJpeg, kPng, kGif, kBmp, kWebp };

// "jpeg", "png", "gif", "bmp", "webp", or "unknown".
const char* ImageFormatName(ImageFormat format);

struct ImageHeader {
  ImageFormat format = ImageFormat::kUnknown;
  int width = 0;   // pixels, as stored: before the orientation is applied
  int height = 0;  // pixels
  // As stored: 1 gray, 2 gray with alpha, 3 colour (a palette counts as colour), 4 with alpha or
  // CMYK. 0 where unknown.
  int channels = 0;
  int bit_depth = 0;         // of a channel, or of a palette's index; 0 where unknown
  bool progressive = false;  // a progressive JPEG or an interlaced PNG
  // EXIF orientation 1..8 of a JPEG or PNG; 1 (as it should be shown) where none, or none that
  // makes sense, is found.
  int orientation = 1;
};

// Reads headers only, nothing is decoded. The format is told by the bytes, never by a name; bytes
// of no known format give kUnknown. Throws Error (kCorrupt, with the byte offset) where a file
// begins as one of the formats and its header is cut or contradicts itself, kUnsupported for a JPEG
// whose height comes only after its first scan.
ImageHeader ReadImageHeader(ByteView bytes);

}  // namespace recpack
