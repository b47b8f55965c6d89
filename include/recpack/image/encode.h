// Pixels to PNG and JPEG files.
#pragma once

#include "recpack/base/bytes.h"
#include "recpack/image/image.h"

namespace recpack {

// Images have 1 (gray) or 3 (RGB) channels and at least one pixel; else Error (kInvalidArgument).

// A lossless PNG, 8 bits a channel.
ByteBuffer EncodePng(const Image& image);

struct JpegEncodeOptions {
  // 1 (smallest) to 100 (best), the scale of libjpeg and Pillow.
  int quality = 90;
  // Halve the colour's resolution (4:2:0), as cameras and Pillow do. Off: 4:4:4.
  bool subsample_chroma = true;
};

// A baseline JPEG with optimal Huffman tables. Bytes depend on pixels, options and the version of
// libjpeg-turbo only, not on the CPU.
ByteBuffer EncodeJpeg(const Image& image, const JpegEncodeOptions& options = {});

}  // namespace recpack
