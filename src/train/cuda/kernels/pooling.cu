#include "src/train/cuda/kernels/kernels.h"
#include "src/train/cuda/kernels/launch.h"

namespace recpack::train {
namespace {

struct Geometry {
  uint32_t channels, height, width, out_height, out_width, window_height, window_width, stride, pad;
  uint32_t inputs, outputs;  // elements
  bool nhwc;
};

Geometry ToGeometry(const PoolingSpec& spec) {
  const auto of = [](int64_t value) { return Count32(value); };
  const int64_t pictures = spec.batch * spec.channels;
  return {of(spec.channels),
          of(spec.height),
          of(spec.width),
          of(spec.out_height()),
          of(spec.out_width()),
          of(spec.window_height),
          of(spec.window_width),
          of(spec.stride),
          of(spec.pad),
          of(pictures * spec.height * spec.width),
          of(pictures * spec.out_height() * spec.out_width()),
          spec.layout == ImageLayout::kNhwc};
}

// Position of an element, from its index in an array of height x width images.
struct Place {
  uint32_t picture, channel, row, column;
};

__device__ Place FindPlace(const Geometry& g, uint32_t index, uint32_t height, uint32_t width) {
  Place at = {};
  if (g.nhwc) {
    at.channel = index % g.channels;
    index /= g.channels;
  }
  at.column = index % width;
  index /= width;
  at.row = index % height;
  index /= height;
  if (!g.nhwc) {
    at.channel = index % g.channels;
    index /= g.channels;
  }
  at.picture = index;
  return at;
}

__device__ size_t ElementIndex(const Geometry& g, const Place& at, uint32_t row, uint32_t column,
                               uint32_t height, uint32_t width) {
  const size_t picture = at.picture;
  return g.nhwc ? ((picture * height + row) * width + column) * g.channels + at.channel
                : ((picture * g.channels + at.channel) * height + row) * width + column;
}

// One output per thread. The first of equal maxima wins; NaN is a maximum.
template <typename T>
__global__ void Pool(const Geometry g, const T* x, T* y, uint32_t* places) {
  for (uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < g.outputs; i += gridDim.x * kThreads) {
    const Place at = FindPlace(g, i, g.out_height, g.out_width);
    float sum = 0, largest = 0;
    uint32_t place = 0, seen = 0;
    for (uint32_t p = 0; p < g.window_height; ++p) {
      for (uint32_t q = 0; q < g.window_width; ++q) {
        // Rows and columns of padding before the image wrap around to large numbers.
        const uint32_t row = at.row * g.stride + p - g.pad,
                       column = at.column * g.stride + q - g.pad;
        if (row >= g.height || column >= g.width) continue;
        const float value = ToFloat(x[ElementIndex(g, at, row, column, g.height, g.width)]);
        if (seen++ == 0 || value > largest || value != value) {
          largest = value;
          place = p * g.window_width + q;
        }
        sum += value;
      }
    }
    y[i] = FromFloat<T>(places ? largest : sum / static_cast<float>(seen));
    if (places) places[i] = place;
  }
}

// First and one-past-last window that contains this row or column, counted from the padding's
// first.
__device__ uint32_t FirstWindow(uint32_t at, uint32_t window, uint32_t stride) {
  return at < window ? 0 : (at - window) / stride + 1;
}
__device__ uint32_t EndWindow(uint32_t at, uint32_t stride, uint32_t windows) {
  return min(at / stride + 1, windows);
}

// Rows or columns of the image in a window that begins at `begin`, counted like those.
__device__ uint32_t Inside(uint32_t begin, uint32_t window, uint32_t pad, uint32_t size) {
  return min(begin + window, pad + size) - max(begin, pad);
}

// One element of dx per thread, summed over the windows that contain it: in a fixed order, without
// atomics.
template <typename T>
__global__ void PoolBackward(const Geometry g, const T* dy, const uint32_t* places, T* dx) {
  for (uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < g.inputs; i += gridDim.x * kThreads) {
    const Place at = FindPlace(g, i, g.height, g.width);
    const uint32_t at_row = at.row + g.pad, at_column = at.column + g.pad;
    float sum = 0;
    for (uint32_t row = FirstWindow(at_row, g.window_height, g.stride);
         row < EndWindow(at_row, g.stride, g.out_height); ++row) {
      for (uint32_t column = FirstWindow(at_column, g.window_width, g.stride);
           column < EndWindow(at_column, g.stride, g.out_width); ++column) {
        const size_t from = ElementIndex(g, at, row, column, g.out_height, g.out_width);
        const float gradient = ToFloat(dy[from]);
        const uint32_t top = row * g.stride, left = column * g.stride;
        if (!places) {
          sum += gradient / static_cast<float>(Inside(top, g.window_height, g.pad, g.height) *
                                               Inside(left, g.window_width, g.pad, g.width));
        } else if (places[from] == (at_row - top) * g.window_width + (at_column - left)) {
          sum += gradient;
        }
      }
    }
    dx[i] = FromFloat<T>(sum);
  }
}

}  // namespace

void LaunchPooling(const PoolingSpec& spec, const void* x, void* y, uint32_t* places,
                   CUstream_st* stream) {
  const Geometry geometry = ToGeometry(spec);
  if (geometry.outputs == 0) return;
  AsElement(spec.type, [&](auto element) {
    using T = decltype(element);
    Launch("pooling", Pool<T>, GridFor(geometry.outputs), dim3(kThreads), stream, geometry,
           static_cast<const T*>(x), static_cast<T*>(y), places);
  });
}

void LaunchPoolingBackward(const PoolingSpec& spec, const void* dy, const uint32_t* places,
                           void* dx, CUstream_st* stream) {
  const Geometry geometry = ToGeometry(spec);
  if (geometry.inputs == 0) return;
  AsElement(spec.type, [&](auto element) {
    using T = decltype(element);
    Launch("pooling's gradient", PoolBackward<T>, GridFor(geometry.inputs), dim3(kThreads), stream,
           geometry, static_cast<const T*>(dy), places, static_cast<T*>(dx));
  });
}

}  // namespace recpack::train
