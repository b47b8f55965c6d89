// A rectangle of a JPEG without decoding the rest.
#pragma once

#include <memory>

#include "recpack/base/bytes.h"
#include "recpack/image/decode.h"
#include "recpack/image/image.h"

namespace recpack {

// Decodes rectangles of one JPEG after another and keeps its buffers. One thread at a time.
class JpegRegionDecoder {
 public:
  JpegRegionDecoder();
  ~JpegRegionDecoder();
  JpegRegionDecoder(JpegRegionDecoder&&) noexcept;
  JpegRegionDecoder& operator=(JpegRegionDecoder&&) noexcept;

  // The pixels of `region`, equal to those of a full decode with the same options. The region is in
  // pixels as stored, apply_orientation must be off, and of the scaled image where the options ask
  // for one. On files with restart markers (TileJpeg puts them where they serve best) only the
  // segments that the region and two pixels around it touch are decoded; on others all before its
  // last row is, but only the region's blocks are turned into pixels.
  //
  // Throws Error: kInvalidArgument for a region that is empty or not inside the image, and as
  // ImageDecoder does; damage in parts that are not decoded goes unnoticed.
  void Decode(ByteView jpeg, const Region& region, const DecodeOptions& options, Image& out);

  // Of the file decoded last: the share of its coefficients that had to be read, 1 where it is not
  // known (files that libjpeg decodes).
  double coded_share() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The same with a decoder of its own, for single images.
Image DecodeJpegRegion(ByteView jpeg, const Region& region, const DecodeOptions& options = {});

}  // namespace recpack
