#include "recpack/image/plane_resize.h"

#include <algorithm>
#include <array>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/image/jpeg/jpeg_sequential.h"

namespace recpack {
namespace {

SampleGrid MakeGrid(const Region& part, int step_x, int step_y) {
  return {step_x, step_y, part.x % step_x, part.y % step_y};
}

// Sets `first` and `count` to the pixels, along one axis of length `whole`, that are covered by
// them or by the samples of a grid.
void Widen(int whole, int step, int phase, int samples_first, int samples, int& first, int& count) {
  const int end = std::max(first + count, (samples_first + samples) * step - phase);
  first = std::max(0, std::min(first, samples_first * step - phase));
  count = std::min(whole, end) - first;
}

// Returns the pixels of the part whose samples the window depends on, with one or two pixels per
// chroma sample.
Region NeededRegion(const Region& part, const ResizeWindow& window, ResizeFilter filter) {
  Region needed = SourceRegion(window, filter);
  ResizeWindow colours = window;
  colours.grid = MakeGrid(part, 2, 2);
  const Region samples = SourceRegion(colours, filter);
  Widen(part.width, 2, colours.grid.phase_x, samples.x, samples.width, needed.x, needed.width);
  Widen(part.height, 2, colours.grid.phase_y, samples.y, samples.height, needed.y, needed.height);
  return needed;
}

}  // namespace

struct JpegPlaneResizer::State {
  const JpegKernels& kernels = *AvailableJpegKernels().back();
  JpegReader reader;
  SequentialJpeg decoder;
  JpegPlanes planes;
  Resizer of_luma, of_colours;
  std::array<ByteBuffer, 3> resized;
};

JpegPlaneResizer::JpegPlaneResizer() : state_(std::make_unique<State>()) {}
JpegPlaneResizer::~JpegPlaneResizer() = default;
JpegPlaneResizer::JpegPlaneResizer(JpegPlaneResizer&&) noexcept = default;
JpegPlaneResizer& JpegPlaneResizer::operator=(JpegPlaneResizer&&) noexcept = default;

double JpegPlaneResizer::coded_share() const noexcept { return state_->decoder.coded_share(); }

bool JpegPlaneResizer::Resize(ByteView jpeg, const Region& part, const ResizeWindow& window,
                              ResizeFilter filter, const DecodeOptions& options, Image& out) {
  if (window.whole != ImageSize{part.width, part.height} || window.grid != SampleGrid{}) {
    throw Error(ErrorKind::kInvalidArgument,
                format("the window belongs to {}x{} pixels, the part has {}x{}", window.whole.width,
                       window.whole.height, part.width, part.height));
  }
  const Region needed = NeededRegion(part, window, filter);
  const Region decoded{part.x + needed.x, part.y + needed.y, needed.width, needed.height};
  auto& [kernels, reader, decoder, planes, of_luma, of_colours, resized] = *state_;
  if (!decoder.DecodePlanes(jpeg, decoded, options, reader, planes)) return false;
  const int width = window.window.width, height = window.window.height;
  const size_t pixels = static_cast<size_t>(width) * height;
  for (size_t i = 0; i < 3; ++i) {
    const int step_x = i == 0 ? 1 : planes.step_x, step_y = i == 0 ? 1 : planes.step_y;
    const Image& plane = planes.samples[i];
    ResizeWindow of_plane = window;
    of_plane.grid = MakeGrid(part, step_x, step_y);
    resized[i].resize(std::max(resized[i].size(), pixels + kSamplePadding));
    (i == 0 ? of_luma : of_colours)
        .Resize(ToView(plane),
                {decoded.x / step_x - part.x / step_x, decoded.y / step_y - part.y / step_y,
                 plane.width, plane.height},
                of_plane, filter,
                {resized[i].data(), width, height, 1, static_cast<size_t>(width)});
  }
  out.Reshape(width, height, 3);
  kernels.to_rgb(resized[0].data(), resized[1].data(), resized[2].data(), static_cast<int>(pixels),
                 out.pixels.data());
  return true;
}

}  // namespace recpack
