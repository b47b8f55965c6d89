// Parser of image file headers: format, size, channels, orientation.
#pragma once

#include <cstdint>

#include "recpack/base/bytes.h"

namespace recpack {

enum class ImageFormat : uint8_t { kUnknown, kJpeg, kPng, kGif, kBmp, kWebp, kAvif, kTiff };

// Returns "jpeg", "png", "gif", "bmp", "webp", "avif", "tiff" or "unknown".
const char* ImageFormatName(ImageFormat format);

struct ImageHeader {
  ImageFormat format = ImageFormat::kUnknown;
  int width = 0;   // pixels, as stored: before the orientation is applied
  int height = 0;  // pixels
  // As stored: 1 gray, 2 gray with alpha, 3 colour (including palettes), 4 colour with alpha or
  // CMYK. 0 if unknown.
  int channels = 0;
  int bit_depth = 0;         // bits per channel, or per palette index; 0 if unknown
  bool progressive = false;  // progressive JPEG or interlaced PNG
  // EXIF orientation 1..8 of a JPEG, PNG, WebP or TIFF, and as an AVIF is turned and mirrored; 1
  // (upright) if missing or invalid.
  int orientation = 1;
};

// Parses the header of an image file; decodes no pixels. Detects the format from the bytes; returns
// kUnknown for unknown formats. Throws Error: kCorrupt, with the byte offset, if the header of a
// known format is truncated or contradicts itself; kUnsupported for a JPEG whose height follows its
// first scan.
ImageHeader ReadImageHeader(ByteView bytes);

}  // namespace recpack
