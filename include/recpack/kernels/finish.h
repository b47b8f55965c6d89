// Final step of the image pipeline: crops, pads, flips and normalises a u8 image and converts it to
// the batch's element type and layout.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "recpack/base/cpu.h"
#include "recpack/base/element_type.h"

namespace recpack {

enum class ImageLayout : uint8_t { kNhwc, kNchw };  // interleaved; one plane per channel

struct FinishOptions {
  ImageLayout in_layout = ImageLayout::kNhwc;
  int in_height = 0;  // rows of a source image; 1 to 65536, as for the other sizes
  int in_width = 0;
  int channels = 3;    // of source and result, 1 to 4
  int out_height = 0;  // rows of a result
  int out_width = 0;
  uint8_t fill = 0;  // value of pixels outside the source image, before normalisation

  // Per channel: result = float(u8) * scale + bias, with product and sum each rounded to f32, never
  // fused. The result must be finite in f32 for every u8. Not applied to kU8.
  std::array<float, 4> scale = {1, 1, 1, 1};
  std::array<float, 4> bias = {0, 0, 0, 0};

  // kU8, kF16, kBf16 or kF32. f16 and bf16 are rounded from f32 to nearest, ties to even; values
  // too large for f16 become infinity.
  ElementType type = ElementType::kF32;
  ImageLayout out_layout = ImageLayout::kNchw;
};

// Crop and flip of one source image. 12 bytes; the device reads this struct as it is.
struct FinishGeometry {
  int32_t x = 0;      // column and row of the source at the result's upper left corner; may lie
  int32_t y = 0;      // outside the image: pixels not covered are `fill`
  bool flip = false;  // left to right, after cropping
};

// Throws Error (kInvalidArgument) for options outside their limits.
void CheckFinish(const FinishOptions& options);

// Returns `options` with scale and bias set to compute (u8 / 255 - mean) / std: 1 / (255 std) and
// -mean / std, computed in double and rounded once. `mean` and `std` have options.channels values
// each. Throws Error (kInvalidArgument) unless these are finite and std is above 0.
FinishOptions MeanStd(FinishOptions options, const double* mean, const double* std);

struct FinishPlan;  // kernels/host/finish_plan.h

// Finishes images on the host. Results are bit-identical on every CPU, and to those of
// LaunchFinish() on a device. Immutable and thread-safe. Copies share state.
class Finisher {
 public:
  // Throws as CheckFinish().
  explicit Finisher(const FinishOptions& options);

  // Uses the instructions of `level`, limited to ActiveCpu(). For tests and benchmarks.
  Finisher(const FinishOptions& options, CpuLevel level);

  size_t out_bytes() const noexcept;  // size of one result

  // Reads in_height * in_width * channels bytes at `image` and writes out_bytes() at `out`. Both
  // may have any alignment and must not overlap. Allocates nothing.
  void operator()(const uint8_t* image, const FinishGeometry& geometry, void* out) const noexcept;

 private:
  std::shared_ptr<const FinishPlan> plan_;
};

}  // namespace recpack
