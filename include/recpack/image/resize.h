// Image resizing with integer weights; results are bit-identical on every CPU.
#pragma once

#include <cstdint>
#include <memory>

#include "recpack/image/image.h"

namespace recpack {

enum class ResizeFilter : uint8_t {
  // Triangle filter, widened by the scale when shrinking (antialiasing): Pillow's BILINEAR and
  // torchvision's default.
  kBilinear,
  // Triangle filter of two taps at any scale (no antialiasing): OpenCV's INTER_LINEAR.
  kBilinearTwoTaps,
  // Mean of the pixels that an output pixel covers: Pillow's BOX. Same as nearest when enlarging.
  kBox,
  // The pixel that contains the centre (i + 0.5) * scale: Pillow's NEAREST and torchvision's
  // NEAREST_EXACT, except where the centre lies between two pixels and rounding decides. Values are
  // never mixed: for segmentation masks.
  kNearest,
};

// Position of a plane's samples in its image: one sample per `step` pixels in each direction; the
// first begins `phase` pixels before the image. JPEGs store chroma this way.
struct SampleGrid {
  int step_x = 1, step_y = 1;
  int phase_x = 0, phase_y = 0;  // 0 <= phase < step
  bool operator==(const SampleGrid&) const = default;
};

// Part of a resized image.
struct ResizeWindow {
  ImageSize whole;       // size of the source image
  ImageSize resized;     // size of the whole result
  Region window;         // part of the result to compute
  SampleGrid grid = {};  // grid of the source samples; default: pixels
};

// Returns the pixels of the whole image, or the samples of its grid, that a window is computed
// from. Throws Error (kInvalidArgument) for empty sizes, windows that are not inside and invalid
// grids.
Region SourceRegion(const ResizeWindow& window, ResizeFilter filter);

struct ResizeKernels;  // for one CPU level (src/image/resize/resize_kernels.h)

// Resizes images. Reuse it: it keeps its buffers and weights, so that a call allocates nothing
// after images of that size have been resized. Not thread-safe.
//
// Weights are the filter's values around the centre (i + 0.5) * scale, computed in double,
// normalised, and rounded to 22 fractional bits. Columns are resized first, then rows, each rounded
// to 8 bits; a direction that keeps its size is skipped. This is the fixed-point scheme of Pillow's
// resample: results match it bit for bit, on every CPU. Pillow 13 resizes rows first if the height
// shrinks much more than the width; values then differ by at most 1.
class Resizer {
 public:
  Resizer();
  explicit Resizer(const ResizeKernels& kernels);  // `kernels` must outlive the resizer
  ~Resizer();
  Resizer(Resizer&&) noexcept;
  Resizer& operator=(Resizer&&) noexcept;

  // Resizes `region` of `from` to the size of `to`, into its memory, which must not overlap. Pixels
  // outside the region have no influence. Both must have the same 1 to 4 channels. Throws Error
  // (kInvalidArgument) for empty sizes, wrong channels and regions that are not inside `from`.
  void Resize(const PixelView& from, const Region& region, ResizeFilter filter,
              const PixelSpan& to);

  // Computes only `window`: the same pixels as resizing everything and cropping. `from` is a view
  // of the image's region `shown`, which must contain SourceRegion(window, filter).
  void Resize(const PixelView& from, const Region& shown, const ResizeWindow& window,
              ResizeFilter filter, const PixelSpan& to);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct ResizeOptions {
  int width = 0;   // of the result, at least 1
  int height = 0;  // of the result, at least 1
  ResizeFilter filter = ResizeFilter::kBilinear;
};

// Resizes a single image with a temporary Resizer.
Image Resize(const Image& image, const ResizeOptions& options);

// Scales a size so that its shorter side is `shorter`, keeping the aspect ratio; the longer side is
// rounded down, as in torchvision's Resize(N). Throws Error: kUnsupported if a side does not fit an
// int, kInvalidArgument for an empty size.
ImageSize ScaleShorterSide(ImageSize size, int shorter);

}  // namespace recpack
