#include "src/image/checks.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack {

void CheckRegion(const Region& region, int64_t image_width, int64_t image_height) {
  const auto inside = [](int at, int size, int64_t whole) {
    return at >= 0 && size > 0 && int64_t{at} + size <= whole;
  };
  if (inside(region.x, region.width, image_width) &&
      inside(region.y, region.height, image_height)) {
    return;
  }
  throw Error(ErrorKind::kInvalidArgument,
              format("a region of {}x{} pixels at ({}, {}) is not inside an image of {}x{}",
                     region.width, region.height, region.x, region.y, image_width, image_height));
}

void CheckScale(const DecodeOptions& options) {
  constexpr int kDenominators[] = {1, 2, 4, 8};
  if (std::ranges::count(kDenominators, options.scale_denominator) == 1) return;
  throw Error(ErrorKind::kInvalidArgument,
              format("JPEGs cannot be decoded at 1/{} of their size", options.scale_denominator),
              {}, "choose 1, 2, 4 or 8");
}

void CheckHeaderBytes(ByteView bytes, size_t needed, const char* format_name) {
  if (bytes.size() >= needed) return;
  throw Error(ErrorKind::kCorrupt, format("the {} ends inside its header", format_name),
              {.offset = bytes.size()});
}

void CheckPixels(uint64_t width, uint64_t height, uint64_t max_pixels) {
  if (width * height <= max_pixels) return;
  throw Error(ErrorKind::kUnsupported,
              format("the image of {}x{} pixels is larger than the {} allowed here", width, height,
                     max_pixels));
}

void CheckEncodable(const Image& image) {
  const bool whole = image.width > 0 && image.height > 0 &&
                     image.pixels.size() == image.row_bytes() * static_cast<size_t>(image.height);
  if (whole && (image.channels == 1 || image.channels == 3)) return;
  throw Error(ErrorKind::kInvalidArgument,
              format("cannot encode {}x{} pixels with {} channels in {} bytes", image.width,
                     image.height, image.channels, image.pixels.size()));
}

void RefuseNotWideGray() {
  throw Error(ErrorKind::kUnsupported, "the image is not gray of 16 bits, as the field's bits say",
              {}, "give PNGs or TIFFs of 16-bit gray, or leave bits at 8");
}

}  // namespace recpack
