// The last step of a picture on its way into a batch: crop, padding, flip, normalising, the
// trainer's type and layout. From one source image of u8 to one result.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "recpack/base/cpu.h"

namespace recpack {

enum class ElementType : uint8_t { kU8, kF16, kBf16, kF32 };
size_t ElementBytes(ElementType type) noexcept;
const char* ElementName(ElementType type);  // "u8", "f16", "bf16", "f32"

enum class ImageLayout : uint8_t { kNhwc, kNchw };  // interleaved; one plane a channel

struct FinishOptions {
  ImageLayout in_layout = ImageLayout::kNhwc;
  int in_height = 0;  // rows of a source image, 1 to 65536; also in_width and the two below
  int in_width = 0;
  int channels = 3;    // 1 to 4, of source and result
  int out_height = 0;  // rows of a result
  int out_width = 0;
  uint8_t fill = 0;  // value of source pixels outside the image, which is then normalised as others

  // By channel: result = float(u8) * scale + bias, the product and the sum each rounded to f32,
  // never fused. The result must be finite in f32 for every u8. Not applied to kU8.
  std::array<float, 4> scale = {1, 1, 1, 1};
  std::array<float, 4> bias = {0, 0, 0, 0};

  // f16 and bf16 are rounded from the f32 to nearest, ties to even; too large for f16 is infinity.
  ElementType type = ElementType::kF32;
  ImageLayout out_layout = ImageLayout::kNchw;
};

// What is cut out of one source image. 12 bytes, read by the device as it lies in memory.
struct FinishGeometry {
  int32_t x = 0;      // column and row of the source at the result's upper left corner; may lie
  int32_t y = 0;      // outside of the image: what is not covered is `fill`
  bool flip = false;  // left to right, after cropping
};

// Throws Error (kInvalidArgument) for options that break their limits.
void CheckFinish(const FinishOptions& options);

// `options` with the scale and bias of (u8 / 255 - mean) / std: 1 / (255 std) and -mean / std,
// computed in double and rounded once. `mean` and `std` have options.channels values each. Throws
// Error (kInvalidArgument) unless these are finite and std is above 0.
FinishOptions MeanStd(FinishOptions options, const double* mean, const double* std);

struct FinishPlan;  // kernels/host/finish_plan.h

// Finishes one image after another on the host; the bits are the same on every CPU and those of
// LaunchFinish() on a device. Immutable: any number of threads may use one at a time. Copies share
// what is inside.
class Finisher {
 public:
  // Throws as CheckFinish().
  explicit Finisher(const FinishOptions& options);

  // On the instructions of `level`, or what ActiveCpu() has of them: for tests and benches.
  Finisher(const FinishOptions& options, CpuLevel level);

  size_t out_bytes() const noexcept;  // of one result

  // Reads in_height * in_width * channels bytes at `image` and writes out_bytes() at `out`, of any
  // alignment. They must not overlap. Allocates nothing.
  void operator()(const uint8_t* image, const FinishGeometry& geometry, void* out) const noexcept;

 private:
  std::shared_ptr<const FinishPlan> plan_;
};

}  // namespace recpack
