// Fuzzes the header parser, the decoders, the tiler and the region decoder: errors are fine;
// crashes, leaks and disagreement are not.
#include <algorithm>
#include <cstdlib>

#include "recpack/base/error.h"
#include "recpack/image/decode.h"
#include "recpack/image/header.h"
#include "recpack/image/jpeg_crop.h"
#include "recpack/image/jpeg_tile.h"
#include "src/image/jpeg/decode_jpeg.h"
#include "src/image/jpeg/jpeg_sequential.h"

namespace recpack {
namespace {

constexpr uint64_t kMaxPixels = 1 << 18;  // arbitrary; keeps a run short

void Require(bool condition) {
  if (!condition) std::abort();
}

// Runs `work` and tells whether it succeeded; Error is not a finding.
template <typename Work>
bool Succeeds(Work&& work) {
  try {
    work();
    return true;
  } catch (const Error&) {
    return false;
  }
}

void CheckTiled(ByteView jpeg, const Image& whole) {
  ByteBuffer tiled;
  if (!Succeeds([&] { tiled = TileJpeg(jpeg, {.target_pixels = 16, .max_pixels = kMaxPixels}); })) {
    return;
  }
  const DecodeOptions options{.max_pixels = kMaxPixels};
  Require(DecodeImage(tiled, options) == whole);
  const Region middle{whole.width / 3, whole.height / 3, (whole.width + 2) / 3,
                      (whole.height + 2) / 3};
  const Image crop = DecodeJpegRegion(tiled, middle, options);
  for (int y = 0; y < crop.height; ++y) {
    const uint8_t* row = whole.row(middle.y + y) + static_cast<ptrdiff_t>(middle.x) * 3;
    Require(std::equal(crop.row(y), crop.row(y) + crop.row_bytes(), row));
  }
}

// Compares SequentialJpeg with libjpeg.
void CheckSequential(ByteView jpeg) {
  const DecodeOptions options{.max_pixels = kMaxPixels};
  JpegReader reader;
  ByteBuffer scratch;
  Image whole, ours;
  const bool decodes = Succeeds([&] { DecodeJpeg(reader, jpeg, options, scratch, whole); });
  for (const JpegKernels* kernels : AvailableJpegKernels()) {
    SequentialJpeg decoder(kernels);
    if (!decoder.Decode(jpeg, nullptr, options, reader, ours)) continue;
    Require(decodes && ours == whole);
    const Region region{whole.width / 2, whole.height / 3, (whole.width + 3) / 4,
                        (whole.height + 2) / 3};
    Require(decoder.Decode(jpeg, &region, options, reader, ours));
    for (int y = 0; y < ours.height; ++y) {
      const uint8_t* row = whole.row(region.y + y) + static_cast<ptrdiff_t>(region.x) * 3;
      Require(std::equal(ours.row(y), ours.row(y) + ours.row_bytes(), row));
    }
  }
}

void Fuzz(ByteView bytes) {
  ImageHeader header;
  const bool has_header = Succeeds([&] { header = ReadImageHeader(bytes); });
  Image image;
  const DecodeOptions options{.max_pixels = kMaxPixels};
  if (Succeeds([&] { image = DecodeImage(bytes, options); })) {
    Require(has_header && header.width == image.width && header.height == image.height);
    if (header.format == ImageFormat::kJpeg) CheckTiled(bytes, image);
  }
  CheckSequential(bytes);
  Succeeds([&] {
    DecodeImage(bytes, {.layout = PixelLayout::kAsStored,
                        .apply_orientation = true,
                        .allow_damage = true,
                        .max_pixels = kMaxPixels});
  });
  Succeeds([&] {
    DecodeJpegRegion(bytes, {1, 9, 5, 7}, {.allow_damage = true, .max_pixels = kMaxPixels});
  });
}

}  // namespace
}  // namespace recpack

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  recpack::Fuzz({data, size});
  return 0;
}
