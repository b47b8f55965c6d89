// Layers of an ONNX network, and the operations that they are of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/train/onnx/onnx_node.h"
#include "src/train/ops/layer_ops.h"

namespace recpack::train {

// Normalisation after a convolution; of the identity where the graph has none.
struct OnnxNorm {
  std::vector<float> scale, shift, mean, variance;  // per channel
  float epsilon = 1e-5F;
};

enum class OnnxLayerKind : uint8_t { kConvolution, kPooling, kDense };

// The index of a layer in OnnxNetwork::layers, or kOnnxImage.
constexpr int kOnnxImage = -1;
constexpr int kOnnxNone = -2;

// A convolution with its normalisation, the sum with another layer and ReLU; a pooling; or a dense
// layer with ReLU.
struct OnnxLayer {
  OnnxLayerKind kind = OnnxLayerKind::kConvolution;
  std::string name;
  int input = kOnnxImage;
  int residual = kOnnxNone;  // the layer that is added after the normalisation
  bool relu = false;
  ConvolutionSpec convolution = {};  // of a batch of 1
  PoolingSpec pooling = {};          // likewise
  DenseSpec dense = {};              // likewise
  std::vector<float>
      weights;  // (out, in, height, width) or (out, in), in the graph's order: channels first
  std::vector<float> bias;  // empty: none
  OnnxNorm norm = {};
  Shape out = {};  // (1, channels, height, width) or (1, out)
};

// Each makes a layer without its input from a node, and throws Error (kUnsupported) for a form that
// is not supported. `in`: shape of the input: an image, or (1, inputs) for a dense layer.
OnnxLayer MakeOnnxConvolution(const NodeReader& reader, const Shape& in, const OnnxTensor& weights);
OnnxLayer MakeOnnxPooling(const NodeReader& reader, const Shape& in, PoolingKind kind);
// The mean over all pixels.
OnnxLayer MakeOnnxMean(const Shape& in);
// `by_output`: the weights are (out, in), otherwise (in, out).
OnnxLayer MakeOnnxDense(const NodeReader& reader, const Shape& in, const OnnxTensor& weights,
                        bool by_output);

}  // namespace recpack::train
