#include "src/train/models/onnx_model.h"

#include <optional>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::train {
namespace {

// A layer of the file as layers of the trainer.
struct Built {
  std::optional<ConvolutionLayer> convolution;
  std::optional<NormLayer> norm;
  std::optional<PoolingLayer> pooling;
  std::optional<DenseLayer> dense;

  const Tensor& out() {
    if (dense) return dense->out().value;
    return pooling ? pooling->out().value : norm->out().value;
  }
};

// Columns of a dense layer after an image of NHWC: the graph counts its inputs channel by channel,
// and here they come pixel by pixel.
std::vector<float> ByPixel(const std::vector<float>& weights, int64_t inputs, int64_t channels) {
  const int64_t pixels = inputs / channels;
  std::vector<float> moved(weights.size());
  for (size_t row = 0; row < weights.size(); row += static_cast<size_t>(inputs)) {
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t p = 0; p < pixels; ++p) {
        moved[row + static_cast<size_t>(p * channels + c)] =
            weights[row + static_cast<size_t>(c * pixels + p)];
      }
    }
  }
  return moved;
}

class OnnxModel final : public Model {
 public:
  OnnxModel(const ModelContext& context, std::shared_ptr<const OnnxNetwork> network)
      : Model(context), network_(std::move(network)) {
    for (const OnnxLayer& layer : network_->layers) Declare(layer);
  }

  std::string name() const override { return "onnx"; }
  std::string options() const override { return format(R"({{"sha256":"{}"}})", network_->sha256); }

  void Build(int slots, uint64_t seed) override {
    variables_.Allocate(*context_.ops, slots, seed);
    for (size_t i = 0; i < values_.size(); ++i) {
      context_.ops->Upload(variables_.At(i), values_[i].data(), values_[i].size() * sizeof(float));
    }
    values_.clear();
    for (Built& layer : layers_) {
      if (layer.convolution) layer.convolution->Build(context_);
      if (layer.norm) layer.norm->Build(context_);
      if (layer.pooling) layer.pooling->Build(context_);
      if (layer.dense) layer.dense->Build(context_);
    }
  }

  void Forward(const BatchArrays& batch, const uint8_t* mask, bool /*training*/, float scale,
               LossSums* sums) override {
    for (size_t i = 0; i < layers_.size(); ++i) Run(network_->layers[i], layers_[i], batch);
    context_.ops->SoftmaxCrossEntropy(layers_.back().out(),
                                      static_cast<const int64_t*>(batch.Raw("label")), mask, scale,
                                      nullptr, sums);
  }

  std::vector<LayerOutput> Activity() override {
    std::vector<LayerOutput> all;
    for (size_t i = 0; i < layers_.size(); ++i) {
      all.push_back({network_->layers[i].name, layers_[i].out()});
    }
    return all;
  }

  ModelGraph Graph() const override {
    ModelGraph graph;
    const auto made_by = [&](int layer) {
      return layer == kOnnxImage ? "image" : network_->layers[static_cast<size_t>(layer)].name;
    };
    for (const OnnxLayer& layer : network_->layers) {
      graph.push_back({layer.name, {made_by(layer.input)}});
      if (layer.residual != kOnnxNone) graph.back().reads.push_back(made_by(layer.residual));
    }
    graph.push_back({"loss", {graph.back().name, "label"}});
    return graph;
  }

  void Backward(const BatchArrays&, const GradientReady&) override {
    throw Error(ErrorKind::kUnsupported, "a network of an ONNX file cannot be trained", {},
                "train a model of rectrain's own");
  }

 private:
  // Declares the variables of a layer, and keeps their values in the same order.
  void Declare(const OnnxLayer& layer) {
    Built& built = layers_.emplace_back();
    if (layer.kind == OnnxLayerKind::kPooling) {
      PoolingSpec spec = layer.pooling;
      spec.batch = context_.batch, spec.type = context_.type, spec.layout = context_.layout;
      built.pooling.emplace(spec);
      return;
    }
    if (layer.kind == OnnxLayerKind::kDense) {
      DenseSpec spec = layer.dense;
      spec.batch = context_.batch, spec.type = context_.type;
      if (&layer != &network_->layers.back()) spec.out_type = context_.type;
      built.dense.emplace(context_, layer.name, spec);
      const Shape& in = network_->layers[static_cast<size_t>(layer.input)].out;
      const bool by_pixel = in.size() == 4 && context_.layout == ImageLayout::kNhwc;
      values_.push_back(by_pixel ? ByPixel(layer.weights, spec.in, in[1]) : layer.weights);
      values_.push_back(layer.bias.empty() ? std::vector<float>(static_cast<size_t>(spec.out))
                                           : layer.bias);
      return;
    }
    ConvolutionSpec spec = layer.convolution;
    spec.batch = context_.batch, spec.type = context_.type, spec.layout = context_.layout;
    built.convolution.emplace(context_, layer.name, spec);
    values_.push_back(layer.weights);
    if (spec.bias) values_.push_back(layer.bias);
    built.norm.emplace(context_, layer.name + ".norm", spec.out_shape(),
                       layer.residual != kOnnxNone, layer.relu, layer.norm.epsilon);
    values_.insert(values_.end(),
                   {layer.norm.scale, layer.norm.shift, layer.norm.mean, layer.norm.variance});
  }

  void Run(const OnnxLayer& layer, Built& built, const BatchArrays& batch) {
    const void* const x = layer.input == kOnnxImage ? batch.Raw("image") : Output(layer.input);
    if (built.pooling) return built.pooling->Forward(x);
    if (built.dense) {
      built.dense->Forward(context_, x, false);
      const Tensor& y = built.out();
      if (layer.relu) context_.ops->Activate(Activation::kRelu, y, y);
      return;
    }
    built.convolution->Forward(context_, x, false);
    built.norm->Forward(context_, built.convolution->out().value.data,
                        layer.residual == kOnnxNone ? nullptr : Output(layer.residual), false);
  }

  const void* Output(int layer) { return layers_[static_cast<size_t>(layer)].out().data; }

  const std::shared_ptr<const OnnxNetwork> network_;
  std::vector<Built> layers_;
  std::vector<std::vector<float>> values_;  // of the variables, until they are built
};

}  // namespace

std::unique_ptr<Model> MakeOnnxModel(const ModelContext& context,
                                     std::shared_ptr<const OnnxNetwork> network) {
  return std::make_unique<OnnxModel>(context, std::move(network));
}

}  // namespace recpack::train
