// JPEG and PNG files to pixels.
#pragma once

#include <cstdint>
#include <memory>

#include "recpack/base/bytes.h"
#include "recpack/image/header.h"
#include "recpack/image/image.h"

namespace recpack {

enum class PixelLayout : uint8_t {
  kRgb,       // 3 channels, whatever the file holds
  kAsStored,  // 1 channel for a gray file, else 3
  // 1 channel: numbers of palette entries as they are; of gray files the gray values, of others the
  // luma that Pillow's convert("L") has. PNGs of 16 bits are refused (kUnsupported), for their low
  // bits would be lost. Made for masks.
  kOne,
};

struct DecodeOptions {
  // Default RGB. Alpha is dropped in either layout, not composited, as Pillow's convert("RGB") and
  // torchvision do; 16-bit channels are scaled to 8 and rounded; CMYK and YCCK are taken as Adobe
  // writes them (inverted) and converted without a colour profile, as Pillow does.
  PixelLayout layout = PixelLayout::kRgb;
  // Turn and mirror the pixels as the EXIF orientation says. Off: pixels as stored.
  bool apply_orientation = false;
  // Take pictures whose data is cut or damaged, missing parts gray or wrong, if the decoder can go
  // on at all. Off: an error.
  bool allow_damage = false;

  // Approximations, for JPEGs (another: recpack/image/plane_resize.h). Figures are the least PSNR
  // and the largest difference of a channel from the exact path, over the tests' photographs; in
  // brackets over 160 of ImageNet.
  //
  // The fast integer inverse DCT: 44 dB, 6 (39 dB, 24).
  bool fast_dct = false;
  // Off: chroma samples are repeated, not mixed: 43 dB, 23 (38 dB, 69).
  bool fancy_upsampling = true;
  // 1, 2, 4 or 8: decode at that fraction of the size, each side rounded up (ScaledLength()), by an
  // inverse DCT of fewer coefficients. Against means of 2x2, 4x4 and 8x8 exact pixels: 42 dB, 19
  // (42 dB, 51); 38 dB, 33 (38 dB, 53); 36 dB, 26 (36 dB, 59). Other formats: kUnsupported.
  int scale_denominator = 1;

  // Larger images are refused before memory is taken for them. The default is Pillow's.
  uint64_t max_pixels = 178'956'970;
};

constexpr int ScaledLength(int pixels, int scale_denominator) {
  return (pixels + scale_denominator - 1) / scale_denominator;
}

// Throws Error for bytes that are not decoded here: kCorrupt for what is no image, saying what it
// begins with, and for a JPEG or PNG whose header tells no size; kUnsupported for other formats.
void RefuseNotDecoded(ByteView bytes, const ImageHeader& header);

// Decodes one image after another and keeps its buffers. One thread at a time.
class ImageDecoder {
 public:
  ImageDecoder();
  ~ImageDecoder();
  ImageDecoder(ImageDecoder&&) noexcept;
  ImageDecoder& operator=(ImageDecoder&&) noexcept;

  // Decodes into `out`, whose memory is used again. Exact unless the options say otherwise: the
  // slow integer inverse DCT and smooth chroma upsampling, libjpeg's defaults. Throws Error:
  // kCorrupt with the library's reason (`out` is then undefined) and for what is no image,
  // kUnsupported for other formats, lossless or 12-bit JPEGs, and images above max_pixels;
  // kInvalidArgument for another scale_denominator.
  void Decode(ByteView bytes, const DecodeOptions& options, Image& out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The same with a decoder of its own, for single images.
Image DecodeImage(ByteView bytes, const DecodeOptions& options = {});

// Turns and mirrors `image` as EXIF orientation 1..8 says; others leave it as it is.
Image ApplyOrientation(Image image, int orientation);

// Of a picture whose stored pixels have this size: the size that it is seen with, and which of the
// stored pixels a rectangle of the seen ones is. Other orientations than 2..8 change nothing.
ImageSize SeenSize(ImageSize stored, int orientation);
Region StoredRegion(const Region& seen, ImageSize stored, int orientation);

}  // namespace recpack
