// A convolution of the emulated cuDNN, from its descriptors.
#pragma once

#include <cudnn.h>

#include <cstddef>

struct cudnnTensorStruct {
  bool nhwc = false;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int n = 0, c = 0, h = 0, w = 0;

  bool bf16() const { return type == CUDNN_DATA_BFLOAT16; }
  size_t stride() const {  // from one channel to the next
    return nhwc ? 1 : static_cast<size_t>(h) * static_cast<size_t>(w);
  }
  size_t elements() const { return At(n - 1, c - 1, h - 1, w - 1) + 1; }
  size_t At(int i, int channel, int row, int column) const {
    const auto at = [](size_t line, int size, int index) {
      return line * static_cast<size_t>(size) + static_cast<size_t>(index);
    };
    const auto first = static_cast<size_t>(i);
    return nhwc ? at(at(at(first, h, row), w, column), c, channel)
                : at(at(at(first, c, channel), h, row), w, column);
  }
};
struct cudnnFilterStruct : cudnnTensorStruct {};
struct cudnnConvolutionStruct {
  int pad_h = 0, pad_w = 0, stride = 0;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};

namespace recpack::emulated {

// A convolution, with its descriptors as they were at the call.
struct ConvolutionShape {
  cudnnTensorStruct x;
  cudnnFilterStruct w;
  cudnnConvolutionStruct convolution;
  cudnnTensorStruct y;

  bool Agrees() const {
    const auto out = [&](int in, int pad, int window) {
      return (in + 2 * pad - window) / convolution.stride + 1;
    };
    return convolution.stride > 0 && x.nhwc == w.nhwc && x.nhwc == y.nhwc && x.type == w.type &&
           x.type == y.type && x.c == w.c && y.c == w.n && x.n == y.n &&
           y.h == out(x.h, convolution.pad_h, w.h) && y.w == out(x.w, convolution.pad_w, w.w);
  }

  // Calls body(index in x, in w, in y) for all products.
  template <typename Body>
  void ForEach(const Body& body) const {
    for (int n = 0; n < y.n; ++n) {
      for (int i = 0; i < y.h; ++i) {
        for (int j = 0; j < y.w; ++j) ForOutput(n, i, j, body);
      }
    }
  }

  template <typename Body>
  void ForOutput(int n, int i, int j, const Body& body) const {
    const size_t filter = w.elements() / static_cast<size_t>(w.n);
    for (int p = 0; p < w.h; ++p) {
      const int row = i * convolution.stride + p - convolution.pad_h;
      if (row < 0 || row >= x.h) continue;
      for (int q = 0; q < w.w; ++q) {
        const int column = j * convolution.stride + q - convolution.pad_w;
        if (column < 0 || column >= x.w) continue;
        const size_t from = x.At(n, 0, row, column), to = y.At(n, 0, i, j), by = w.At(0, 0, p, q);
        for (size_t out = 0; out < static_cast<size_t>(w.n); ++out) {
          for (size_t in = 0; in < static_cast<size_t>(w.c); ++in) {
            body(from + in * x.stride(), by + out * filter + in * w.stride(),
                 to + out * y.stride());
          }
        }
      }
    }
  }

  size_t Workspace() const { return 256 + y.elements(); }
};

}  // namespace recpack::emulated
