// Resizing with integer weights, the same bits on every CPU.
#pragma once

#include <cstdint>
#include <memory>

#include "recpack/image/image.h"

namespace recpack {

enum class ResizeFilter : uint8_t {
  // A triangle, widened with the scale when shrinking (antialias): Pillow's BILINEAR and
  // torchvision's default.
  kBilinear,
  // A triangle of two taps at any scale (no antialias): OpenCV's INTER_LINEAR.
  kBilinearTwoTaps,
  // The mean of the pixels that an output pixel covers: Pillow's BOX. Nearest when growing.
  kBox,
  // The one pixel that holds the centre (i + 0.5) * scale: Pillow's NEAREST and torchvision's
  // NEAREST_EXACT, but where that lies between two pixels, and rounding decides. Values are never
  // mixed: for masks.
  kNearest,
};

// How the samples of a plane lie in its picture: a sample for `step` pixels each way, the first of
// which begins `phase` pixels before the picture. JPEGs store colours so.
struct SampleGrid {
  int step_x = 1, step_y = 1;
  int phase_x = 0, phase_y = 0;  // at least 0 and below the step
  bool operator==(const SampleGrid&) const = default;
};

// A part of a resized picture.
struct ResizeWindow {
  ImageSize whole;       // of the picture
  ImageSize resized;     // the size that all of it would have
  Region window;         // the part of that which is made
  SampleGrid grid = {};  // of what it is made from; default: its pixels
};

// The pixels of the whole picture, or the samples of its grid, that a window is made of. Throws
// Error (kInvalidArgument) for empty sizes, windows that are not inside and grids that are none.
Region SourceOf(const ResizeWindow& window, ResizeFilter filter);

struct ResizeKernels;  // of one kind of CPU (src/image/resize/resize_kernels.h)

// Resizes one picture after another and keeps its buffers and weights: a call allocates nothing
// once pictures as large were resized. One thread at a time.
//
// Weights are the filter's values around the centre (i + 0.5) * scale, computed in double,
// normalised, and rounded to 22 fractional bits; columns first, rows second, each rounded to 8
// bits, a direction that keeps its size left out: the fixed-point scheme of Pillow's resample,
// whose results these are, bit for bit, on every CPU. Pillow 13 takes rows first where the height
// shrinks much more than the width; values are then within 1 of these.
class Resizer {
 public:
  Resizer();
  explicit Resizer(const ResizeKernels& kernels);  // which must stay alive
  ~Resizer();
  Resizer(Resizer&&) noexcept;
  Resizer& operator=(Resizer&&) noexcept;

  // Resizes `region` of `from` to the size of `to`, into its memory, which must not overlap; pixels
  // outside the region have no influence. 1 to 4 channels, the same in both. Throws Error
  // (kInvalidArgument) for empty sizes, other channels and regions that are not inside `from`.
  void Resize(const PixelView& from, const Region& region, ResizeFilter filter,
              const PixelSpan& to);

  // Makes `window` without the rest: the same pixels as resizing all and cutting it out. `from`
  // shows the picture's `shown`, which holds SourceOf(window).
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

// The same with a resizer of its own, for single images.
Image Resize(const Image& image, const ResizeOptions& options);

// The size whose shorter side is `shorter` and whose longer side is the aspect's, rounded down, as
// torchvision's Resize(N) has it; at least 1. Throws Error: kUnsupported for what is no int,
// kInvalidArgument for an empty size.
ImageSize ScaleShorterSide(ImageSize size, int shorter);

}  // namespace recpack
