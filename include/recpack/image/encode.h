// Encoders for PNG and JPEG images.
#pragma once

#include "recpack/base/bytes.h"
#include "recpack/image/image.h"

namespace recpack {

// Images must have 1 (gray) or 3 (RGB) channels and at least one pixel; otherwise these throw Error
// (kInvalidArgument).

// Encodes a PNG with 8 bits per channel.
ByteBuffer EncodePng(const Image& image);

struct JpegEncodeOptions {
  // 1 (smallest) to 100 (best), the scale of libjpeg and Pillow.
  int quality = 90;
  // Halve the chroma resolution (4:2:0), as cameras and Pillow do. Off: 4:4:4.
  bool subsample_chroma = true;
};

// Encodes a baseline JPEG with optimal Huffman tables. The bytes depend only on pixels, options and
// the version of libjpeg-turbo, not on the CPU.
ByteBuffer EncodeJpeg(const Image& image, const JpegEncodeOptions& options = {});

}  // namespace recpack
