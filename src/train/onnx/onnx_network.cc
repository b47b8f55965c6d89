#include "src/train/onnx/onnx_network.h"

#include <algorithm>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/onnx/onnx_node.h"

namespace recpack::train {
namespace {

class Translator {
 public:
  explicit Translator(OnnxGraph graph) : graph_(std::move(graph)) {
    for (const OnnxNode& node : graph_.nodes) {
      for (const std::string& input : node.inputs) ++uses_[input];
    }
    for (const std::string& output : graph_.outputs) ++uses_[output];
  }

  OnnxNetwork Translate() {
    TakeImage();
    for (const OnnxNode& node : graph_.nodes) Take(node);
    if (graph_.outputs.empty())
      throw Error(ErrorKind::kUnsupported, "the graph has no output", {}, kOnnxSupported);
    const auto last = values_.find(graph_.outputs[0]);
    const bool is_last =
        last != values_.end() && last->second.layer + 1 == static_cast<int>(network_.layers.size());
    if (!is_last || network_.layers.empty() ||
        network_.layers.back().kind != OnnxLayerKind::kDense) {
      throw Error(ErrorKind::kUnsupported, "the graph does not end with a dense layer", {},
                  kOnnxSupported);
    }
    network_.classes = network_.layers.back().dense.out;
    network_.sha256 = graph_.sha256;
    return std::move(network_);
  }

 private:
  // An activation: the layer that gives it, and its shape in the graph.
  struct Value {
    int layer = kOnnxImage;
    Shape shape;
  };

  void TakeImage() {
    const bool fits = graph_.inputs.size() == 1 && graph_.inputs[0].shape.size() == 4 &&
                      graph_.inputs[0].shape[1] == 3 &&
                      graph_.inputs[0].shape[2] == graph_.inputs[0].shape[3] &&
                      graph_.inputs[0].shape[2] > 0 && graph_.inputs[0].shape[2] < 10'000;
    if (!fits) {
      throw Error(ErrorKind::kUnsupported,
                  "the graph's input is not one square image of three channels and of fixed size",
                  {}, "export it with an input such as (1, 3, 224, 224)");
    }
    network_.image = graph_.inputs[0].shape[2];
    values_[graph_.inputs[0].name] = {kOnnxImage, {1, 3, network_.image, network_.image}};
  }

  void Take(const OnnxNode& node) {
    const NodeReader reader(node);
    reader.Require(!node.outputs.empty(), "no output");
    if (node.op == "Conv") return TakeConvolution(node, reader);
    if (node.op == "BatchNormalization") return TakeNorm(node, reader);
    if (node.op == "Relu") return TakeRelu(node, reader);
    if (node.op == "Add") return TakeSum(node, reader);
    if (node.op == "MaxPool" || node.op == "AveragePool") return TakePooling(node, reader);
    if (node.op == "GlobalAveragePool" || node.op == "ReduceMean") return TakeMean(node, reader);
    if (node.op == "Gemm" || node.op == "MatMul") return TakeDense(node, reader);
    if (node.op == "Flatten" || node.op == "Reshape") return TakeFlatten(node, reader);
    if (node.op == "Identity" || node.op == "Dropout" || node.op == "Softmax" ||
        node.op == "LogSoftmax") {
      const auto constant = graph_.constants.find(reader.Input(0));
      if (constant != graph_.constants.end()) {
        graph_.constants.emplace(node.outputs[0], constant->second);
        return;
      }
      values_[node.outputs[0]] =
          At(reader, 0);  // softmax does not change which class is the largest
      return;
    }
    if (node.op == "Constant") {
      const auto value = node.attributes.find("value");
      reader.Require(value != node.attributes.end(), "no tensor as its value");
      graph_.constants.emplace(node.outputs[0], value->second.tensor);
      return;
    }
    reader.Refuse("is of an operation that is not supported");
  }

  const Value& At(const NodeReader& reader, size_t input) const {
    const auto found = values_.find(reader.Input(input));
    if (found == values_.end())
      reader.Refuse(format("reads '{}', where an activation is expected", reader.Input(input)));
    return found->second;
  }

  const OnnxTensor& Constant(const NodeReader& reader, size_t input) const {
    const auto found = graph_.constants.find(reader.Input(input));
    if (found == graph_.constants.end() || found->second.floats.empty()) {
      reader.Refuse(format("reads '{}', where a constant of f32 is expected", reader.Input(input)));
    }
    return found->second;
  }

  std::vector<float> Vector(const NodeReader& reader, size_t input, int64_t size) const {
    const OnnxTensor& tensor = Constant(reader, input);
    if (static_cast<int64_t>(tensor.floats.size()) != size) {
      reader.Refuse(format("reads {} values of '{}', where {} are expected", tensor.floats.size(),
                           reader.Input(input), size));
    }
    return tensor.floats;
  }

  Shape PictureAt(const NodeReader& reader, size_t input) const {
    const Shape& shape = At(reader, input).shape;
    reader.Require(shape.size() == 4, "an input that is not an image");
    return shape;
  }

  void Push(const OnnxNode& node, OnnxLayer layer) {
    layer.name = node.name.empty() ? node.outputs[0] : node.name;
    network_.layers.push_back(std::move(layer));
    values_[node.outputs[0]] = {static_cast<int>(network_.layers.size()) - 1,
                                network_.layers.back().out};
  }

  void TakeConvolution(const OnnxNode& node, const NodeReader& reader) {
    OnnxLayer layer = MakeOnnxConvolution(reader, PictureAt(reader, 0), Constant(reader, 1));
    layer.input = At(reader, 0).layer;
    if (reader.HasInput(2)) layer.bias = Vector(reader, 2, layer.convolution.out_channels);
    Push(node, std::move(layer));
    bare_.push_back(node.outputs[0]);
  }

  // The layer that gives an input; nothing else may read it, as it is changed.
  OnnxLayer& Own(const NodeReader& reader, size_t input, const char* what) {
    const Value& value = At(reader, input);
    if (value.layer < 0 || uses_[reader.Input(input)] != 1) {
      reader.Refuse(format("follows an activation that is also read before {}", what));
    }
    return network_.layers[static_cast<size_t>(value.layer)];
  }

  void TakeNorm(const OnnxNode& node, const NodeReader& reader) {
    OnnxLayer& layer = Own(reader, 0, "its normalisation");
    const auto bare = std::ranges::find(bare_, reader.Input(0));
    reader.Require(bare != bare_.end(), "no convolution directly before it");
    bare_.erase(bare);
    const int64_t channels = layer.convolution.out_channels;
    layer.norm = {.scale = Vector(reader, 1, channels),
                  .shift = Vector(reader, 2, channels),
                  .mean = Vector(reader, 3, channels),
                  .variance = Vector(reader, 4, channels),
                  .epsilon = reader.Number("epsilon", 1e-5F)};
    Alias(node, reader);
  }

  void Alias(const OnnxNode& node, const NodeReader& reader) {
    values_[node.outputs[0]] = Value(At(reader, 0));
  }

  void TakeRelu(const OnnxNode& node, const NodeReader& reader) {
    OnnxLayer& layer = Own(reader, 0, "ReLU");
    reader.Require(layer.kind != OnnxLayerKind::kPooling, "a pooling before it");
    layer.relu = true;
    Alias(node, reader);
  }

  void TakeSum(const OnnxNode& node, const NodeReader& reader) {
    for (const size_t constant : {size_t{0}, size_t{1}}) {
      if (graph_.constants.contains(reader.Input(constant)))
        return TakeBias(node, reader, constant);
    }
    const size_t later = At(reader, 0).layer > At(reader, 1).layer ? 0 : 1;
    const Value other = At(reader, 1 - later);
    OnnxLayer& layer = Own(reader, later, "the sum");
    reader.Require(layer.kind == OnnxLayerKind::kConvolution && !layer.relu &&
                       layer.residual == kOnnxNone && other.layer >= 0 && other.shape == layer.out,
                   "no convolution as its later input, or inputs of different shapes");
    layer.residual = other.layer;
    values_[node.outputs[0]] = Value(At(reader, later));
  }

  // MatMul and Add are a dense layer.
  void TakeBias(const OnnxNode& node, const NodeReader& reader, size_t constant) {
    OnnxLayer& layer = Own(reader, 1 - constant, "the bias");
    reader.Require(layer.kind == OnnxLayerKind::kDense && layer.bias.empty() && !layer.relu,
                   "a constant and no dense layer");
    layer.bias = Vector(reader, constant, layer.dense.out);
    values_[node.outputs[0]] = Value(At(reader, 1 - constant));
  }

  void TakePooling(const OnnxNode& node, const NodeReader& reader) {
    const PoolingKind kind = node.op == "MaxPool" ? PoolingKind::kMax : PoolingKind::kAverage;
    PushPooling(node, reader, MakeOnnxPooling(reader, PictureAt(reader, 0), kind));
  }

  void TakeMean(const OnnxNode& node, const NodeReader& reader) {
    const Shape in = PictureAt(reader, 0);
    if (node.op == "ReduceMean") {
      std::vector<int64_t> axes = reader.Integers("axes", {});
      if (reader.HasInput(1)) {
        const auto given = graph_.constants.find(reader.Input(1));
        if (given != graph_.constants.end()) axes = given->second.integers;
      }
      for (int64_t& axis : axes) axis += axis < 0 ? 4 : 0;
      std::ranges::sort(axes);
      reader.Require(axes == std::vector<int64_t>{2, 3}, "other axes than height and width");
    }
    PushPooling(node, reader, MakeOnnxMean(in));
    if (reader.Integer("keepdims", 1) == 0) values_[node.outputs[0]].shape = {1, in[1]};
  }

  void PushPooling(const OnnxNode& node, const NodeReader& reader, OnnxLayer layer) {
    layer.input = At(reader, 0).layer;
    reader.Require(layer.input >= 0, "the image as its input");
    Push(node, std::move(layer));
  }

  void TakeFlatten(const OnnxNode& node, const NodeReader& reader) {
    Value value = At(reader, 0);
    if (node.op == "Flatten") {
      reader.Require(reader.Integer("axis", 1) == 1, "another axis than 1");
    } else {
      const auto shape = graph_.constants.find(reader.Input(1));
      reader.Require(shape != graph_.constants.end() && shape->second.integers.size() == 2,
                     "a shape that is not of two dimensions");
    }
    value.shape = {1, Elements(value.shape)};
    values_[node.outputs[0]] = value;
  }

  void TakeDense(const OnnxNode& node, const NodeReader& reader) {
    const Value in = At(reader, 0);
    reader.Require(in.layer >= 0, "the image as its input");
    const bool is_gemm = node.op == "Gemm";
    OnnxLayer layer = MakeOnnxDense(reader, in.shape, Constant(reader, 1),
                                    is_gemm && reader.Integer("transB", 0) != 0);
    layer.input = in.layer;
    if (is_gemm && reader.HasInput(2)) layer.bias = Vector(reader, 2, layer.dense.out);
    Push(node, std::move(layer));
  }

  OnnxGraph graph_;
  std::map<std::string, int> uses_;  // by value
  std::map<std::string, Value> values_;
  std::vector<std::string> bare_;  // outputs of convolutions without normalisation
  OnnxNetwork network_;
};

}  // namespace

OnnxNetwork ReadOnnxNetwork(const std::string& path) {
  OnnxGraph graph = ReadOnnx(path);
  try {
    return Translator(std::move(graph)).Translate();
  } catch (const Error& error) {
    throw error.At({.path = path});
  }
}

}  // namespace recpack::train
