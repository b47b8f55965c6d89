#include "src/train/onnx/onnx_layer.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace recpack::train {
namespace {

constexpr int64_t kMaxKernel = 999;

OnnxLayer ToLayer(const PoolingSpec& spec) {
  return {.kind = OnnxLayerKind::kPooling, .pooling = spec, .out = spec.out_shape()};
}

}  // namespace

OnnxLayer MakeOnnxConvolution(const NodeReader& reader, const Shape& in,
                              const OnnxTensor& weights) {
  const Shape& shape = weights.shape;
  reader.Require(shape.size() == 4 && shape[1] == in[1] && reader.Integer("group", 1) == 1,
                 "groups, or weights for another number of channels");
  reader.Require(std::max(shape[2], shape[3]) <= kMaxKernel, "a kernel that is too large");
  OnnxLayer layer{.weights = weights.floats};
  ConvolutionSpec& spec = layer.convolution;
  spec = {.batch = 1,
          .in_channels = in[1],
          .height = in[2],
          .width = in[3],
          .out_channels = shape[0],
          .kernel_height = static_cast<int>(shape[2]),
          .kernel_width = static_cast<int>(shape[3]),
          .stride = reader.Stride(),
          .pad_height = reader.Pad(0),
          .pad_width = reader.Pad(1),
          .bias = reader.HasInput(2)};
  reader.Require(spec.height + 2 * spec.pad_height >= spec.kernel_height &&
                     spec.width + 2 * spec.pad_width >= spec.kernel_width,
                 "a kernel larger than its image");
  const auto all = [&](float value) {
    return std::vector<float>(static_cast<size_t>(spec.out_channels), value);
  };
  layer.norm = {.scale = all(std::sqrt(1 + OnnxNorm().epsilon)),
                .shift = all(0),
                .mean = all(0),
                .variance = all(1)};
  layer.out = spec.out_shape();
  return layer;
}

OnnxLayer MakeOnnxPooling(const NodeReader& reader, const Shape& in, PoolingKind kind) {
  const PoolingSpec spec{.kind = kind,
                         .batch = 1,
                         .channels = in[1],
                         .height = in[2],
                         .width = in[3],
                         .window_height = reader.Kernel(0),
                         .window_width = reader.Kernel(1),
                         .stride = reader.Stride(),
                         .pad = reader.Pad(0)};
  reader.Require(reader.Pad(1) == spec.pad && reader.Integer("ceil_mode", 0) == 0,
                 "padding that differs, or ceil_mode");
  reader.Require(
      kind == PoolingKind::kMax || spec.pad == 0 || reader.Integer("count_include_pad", 0) == 0,
      "count_include_pad");
  reader.Require(spec.height + 2 * spec.pad >= spec.window_height &&
                     spec.width + 2 * spec.pad >= spec.window_width &&
                     2 * spec.pad <= std::min(spec.window_height, spec.window_width),
                 "a window larger than its image");
  return ToLayer(spec);
}

OnnxLayer MakeOnnxMean(const Shape& in) {
  return ToLayer({.kind = PoolingKind::kAverage,
                  .batch = 1,
                  .channels = in[1],
                  .height = in[2],
                  .width = in[3],
                  .window_height = static_cast<int>(in[2]),
                  .window_width = static_cast<int>(in[3])});
}

OnnxLayer MakeOnnxDense(const NodeReader& reader, const Shape& in, const OnnxTensor& weights,
                        bool by_output) {
  reader.Require(in.size() == 2 && weights.shape.size() == 2,
                 "inputs that are not of two dimensions");
  reader.Require(reader.Number("alpha", 1) == 1 && reader.Number("beta", 1) == 1 &&
                     reader.Integer("transA", 0) == 0,
                 "factors, or a transposed input");
  const int64_t out = weights.shape[by_output ? 0 : 1], inputs = weights.shape[by_output ? 1 : 0];
  reader.Require(inputs == in[1], "weights for another number of inputs");
  OnnxLayer layer{.kind = OnnxLayerKind::kDense, .weights = weights.floats, .out = {1, out}};
  layer.dense = {.batch = 1, .in = inputs, .out = out};
  for (int64_t i = 0; !by_output && i < out; ++i) {
    for (int64_t j = 0; j < inputs; ++j) {
      layer.weights[static_cast<size_t>(i * inputs + j)] =
          weights.floats[static_cast<size_t>(j * out + i)];
    }
  }
  return layer;
}

}  // namespace recpack::train
