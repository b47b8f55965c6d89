// Decoder for JPEG, PNG, WebP, AVIF, TIFF, BMP and GIF images.
#pragma once

#include <cstdint>
#include <memory>

#include "recpack/base/bytes.h"
#include "recpack/image/header.h"
#include "recpack/image/image.h"

namespace recpack {

enum class PixelLayout : uint8_t {
  kRgb,       // 3 channels, for all files
  kAsStored,  // 1 channel for a gray file, else 3
  // 1 channel: palette indices, gray values, or for colour images the luma of Pillow's
  // convert("L"). 16-bit PNGs and TIFFs are refused (kUnsupported), since their low bits would be
  // lost. For segmentation masks.
  kOne,
  // 2 channels, the low and the high byte of each 16-bit gray value, as stored: for maps of depth,
  // which no step may mix. Of PNGs and TIFFs; all other images are refused (kUnsupported).
  kOne16,
};

struct DecodeOptions {
  // Layout of the result. Default: RGB. Alpha is dropped in all layouts, not composited, as in
  // Pillow's convert("RGB") and torchvision; 16-bit channels are scaled to 8 bits and rounded; CMYK
  // and YCCK are read as Adobe writes them (inverted) and converted without a colour profile, as in
  // Pillow.
  PixelLayout layout = PixelLayout::kRgb;
  // Rotate and mirror the pixels as the EXIF orientation says. Off: pixels as stored.
  bool apply_orientation = false;
  // Accept truncated or damaged images if the decoder can continue; missing parts are gray or
  // wrong. Off: throw.
  bool allow_damage = false;

  // Approximations for JPEGs (another: recpack/image/plane_resize.h). Figures are the lowest PSNR
  // and the largest difference of a channel value from the exact path, over the photographs of the
  // tests; in brackets over 160 images of ImageNet.
  //
  // Fast integer inverse DCT: 44 dB, 6 (39 dB, 24).
  bool fast_dct = false;
  // Smooth chroma upsampling. Off: chroma samples are repeated: 43 dB, 23 (38 dB, 69).
  bool fancy_upsampling = true;
  // 1, 2, 4 or 8: decode at that fraction of the size, each side rounded up (ScaledLength()), with
  // an inverse DCT of fewer coefficients. Compared with means of 2x2, 4x4 and 8x8 exact pixels: 42
  // dB, 19 (42 dB, 51); 38 dB, 33 (38 dB, 53); 36 dB, 26 (36 dB, 59). kUnsupported for other
  // formats.
  int scale_denominator = 1;

  // Larger images are refused before memory is allocated for them. Default: Pillow's limit.
  uint64_t max_pixels = 178'956'970;
};

constexpr int ScaledLength(int pixels, int scale_denominator) {
  return (pixels + scale_denominator - 1) / scale_denominator;
}

// Throws Error for data that ImageDecoder does not decode: kCorrupt if it is not an image (the
// message has its first bytes) or is one whose header has no size; kUnsupported for other
// image formats.
void RefuseNotDecoded(ByteView bytes, const ImageHeader& header);

// Decodes images. Reuse it: it keeps its buffers. Not thread-safe.
class ImageDecoder {
 public:
  ImageDecoder();
  ~ImageDecoder();
  ImageDecoder(ImageDecoder&&) noexcept;
  ImageDecoder& operator=(ImageDecoder&&) noexcept;

  // Decodes into `out`, whose memory is reused. Exact unless the options say otherwise: the slow
  // integer inverse DCT and smooth chroma upsampling, libjpeg's defaults. Throws Error: kCorrupt
  // with the codec's reason if the data is damaged (`out` is then undefined) or not an image;
  // kUnsupported for other formats, lossless or 12-bit JPEGs, animated WebPs, sequences of AVIFs,
  // run-length-encoded BMPs, TIFFs of floats or other colours than gray, RGB, CMYK and palettes,
  // AVIFs and TIFFs where libavif or libtiff is not installed, and images above max_pixels;
  // kInvalidArgument for an invalid scale_denominator.
  void Decode(ByteView bytes, const DecodeOptions& options, Image& out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Decodes a single image with a temporary decoder.
Image DecodeImage(ByteView bytes, const DecodeOptions& options = {});

// Rotates and mirrors `image` as EXIF orientation 1..8 says; other values leave it unchanged.
Image ApplyOrientation(Image image, int orientation);

// Convert between the pixels as stored and as displayed with an EXIF orientation: SeenSize()
// returns the displayed size, StoredRegion() the stored pixels of a displayed rectangle.
// Orientations other than 2..8 change nothing.
ImageSize SeenSize(ImageSize stored, int orientation);
Region StoredRegion(const Region& seen, ImageSize stored, int orientation);

}  // namespace recpack
