// Decoder for rectangular regions of a JPEG.
#pragma once

#include <memory>

#include "recpack/base/bytes.h"
#include "recpack/image/decode.h"
#include "recpack/image/image.h"

namespace recpack {

// Decodes rectangles of JPEGs without decoding the rest. Reuse it: it keeps its buffers. Not
// thread-safe.
class JpegRegionDecoder {
 public:
  JpegRegionDecoder();
  ~JpegRegionDecoder();
  JpegRegionDecoder(JpegRegionDecoder&&) noexcept;
  JpegRegionDecoder& operator=(JpegRegionDecoder&&) noexcept;

  // Decodes `region` into `out`; the pixels equal those of a full decode with the same options. The
  // region is in stored pixels (apply_orientation must be off), of the scaled image if
  // scale_denominator is set. In files with restart markers (TileJpeg() places them for this) only
  // the segments within two pixels of the region are decoded; in others all entropy-coded data up
  // to its last row is read, but only the region's blocks are converted to pixels.
  //
  // Throws Error: kInvalidArgument for a region that is empty or not inside the image, otherwise as
  // ImageDecoder does. Damage in parts that are not decoded is not detected.
  void Decode(ByteView jpeg, const Region& region, const DecodeOptions& options, Image& out);

  // Returns the fraction of the coefficients of the last file that had to be read; 1 if unknown
  // (files that libjpeg decodes).
  double coded_share() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Decodes a region of a single image with a temporary decoder.
Image DecodeJpegRegion(ByteView jpeg, const Region& region, const DecodeOptions& options = {});

}  // namespace recpack
