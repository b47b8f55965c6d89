#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/models/model.h"

namespace recpack::train {
namespace {

constexpr int kKernel = 5;
constexpr int kWindow = 3;
constexpr int kStride = 2;  // pooling windows overlap

// Convolution with bias, in-place ReLU, pooling.
class ConvolutionBlock {
 public:
  ConvolutionBlock(const ModelContext& context, const std::string& name, const Shape& in,
                   int64_t channels)
      : convolution_(context, name, WithBias(SquareConvolution(context, in, channels, kKernel, 1))),
        pooling_spec_(MakePoolingSpec(convolution_.spec())),
        pooling_(pooling_spec_) {}

  void Build(const ModelContext& context) {
    convolution_.Build(context);
    pooling_.Build(context);
  }

  void Forward(const ModelContext& context, const void* x, bool training) {
    convolution_.Forward(context, x, training);
    const Tensor& y = convolution_.out().value;
    context.ops->Activate(Activation::kRelu, y, y);
    pooling_.Forward(y.data);
  }

  void Backward(const ModelContext& context, const void* x, void* dx, const GradientReady& ready) {
    const Activations& y = convolution_.out();
    pooling_.Backward(y.gradient.data);
    context.ops->ActivateBackward(Activation::kRelu, y.value, y.gradient, y.gradient);
    convolution_.Backward(context, x, dx, ready);
  }

  Activations& out() { return pooling_.out(); }
  const Activations& convolved() { return convolution_.out(); }
  Shape out_shape() const { return pooling_spec_.out_shape(); }

 private:
  static ConvolutionSpec WithBias(ConvolutionSpec spec) {
    spec.bias = true;
    return spec;
  }
  static PoolingSpec MakePoolingSpec(const ConvolutionSpec& spec) {
    return {.kind = PoolingKind::kMax,
            .batch = spec.batch,
            .channels = spec.out_channels,
            .height = spec.out_height(),
            .width = spec.out_width(),
            .window_height = kWindow,
            .window_width = kWindow,
            .stride = kStride,
            .type = spec.type,
            .layout = spec.layout};
  }

  ConvolutionLayer convolution_;
  PoolingSpec pooling_spec_;
  PoolingLayer pooling_;
};

class Alexnet final : public Model {
 public:
  Alexnet(const ModelContext& context, const AlexnetOptions& options)
      : Model(context),
        options_(options),
        first_(context_, "features.0", {context.batch, 3, options.image, options.image},
               options.filters),
        second_(context_, "features.3", first_.out_shape(), 3 * options.filters),
        hidden1_(context_, "classifier.0",
                 MakeDenseSpec(Elements(second_.out_shape()) / context.batch, options.dense)),
        hidden2_(context_, "classifier.2", MakeDenseSpec(options.dense, options.dense)),
        logits_(context_, "classifier.4", MakeLogitsSpec(options)) {}

  std::string name() const override { return "alexnet"; }
  std::string options() const override {
    return format(R"({{"classes":{},"dense":{},"filters":{},"image":{}}})", options_.classes,
                  options_.dense, options_.filters, options_.image);
  }

  void Build(int slots, uint64_t seed) override {
    variables_.Allocate(*context_.ops, slots, seed);
    first_.Build(context_);
    second_.Build(context_);
    flat_.Allocate(context_, second_.out_shape(), context_.type);
    flat_.value.layout = flat_.gradient.layout = ImageLayout::kNchw;
    hidden1_.Build(context_);
    hidden2_.Build(context_);
    logits_.Build(context_);
  }

  void Forward(const BatchArrays& batch, const uint8_t* mask, bool training, float scale,
               LossSums* sums) override {
    Ops& ops = *context_.ops;
    first_.Forward(context_, batch.Raw("image"), training);
    second_.Forward(context_, first_.out().value.data, training);
    // Converts to channel-first order in every layout, so that variables do not depend on the
    // layout.
    ops.Convert(second_.out().value, flat_.value);
    hidden1_.Forward(context_, flat_.value.data, training);
    ops.Activate(Activation::kRelu, hidden1_.out().value, hidden1_.out().value);
    hidden2_.Forward(context_, hidden1_.out().value.data, training);
    ops.Activate(Activation::kRelu, hidden2_.out().value, hidden2_.out().value);
    logits_.Forward(context_, hidden2_.out().value.data, training);
    ops.SoftmaxCrossEntropy(logits_.out().value, static_cast<const int64_t*>(batch.Raw("label")),
                            mask, scale, training ? logits_.out().gradient.As<float>() : nullptr,
                            sums);
  }

  std::vector<LayerOutput> Activity() override {
    return {{"features.0", first_.convolved().value},
            {"features.3", second_.convolved().value},
            {"classifier.0", hidden1_.out().value},
            {"classifier.2", hidden2_.out().value},
            {"classifier.4", logits_.out().value}};
  }

  void Backward(const BatchArrays& batch, const GradientReady& ready) override {
    logits_.Backward(context_, hidden2_.out().value.data, hidden2_.out().gradient.data, ready);
    HiddenBackward(hidden2_, hidden1_.out(), ready);
    HiddenBackward(hidden1_, flat_, ready);
    context_.ops->Convert(flat_.gradient, second_.out().gradient);
    second_.Backward(context_, first_.out().value.data, first_.out().gradient.data, ready);
    first_.Backward(context_, batch.Raw("image"), nullptr, ready);
  }

 private:
  DenseSpec MakeDenseSpec(int64_t in, int64_t out) const {
    return {.batch = context_.batch,
            .in = in,
            .out = out,
            .type = context_.type,
            .out_type = context_.type};
  }
  DenseSpec MakeLogitsSpec(const AlexnetOptions& options) const {
    DenseSpec spec = MakeDenseSpec(options.dense, options.classes);
    spec.out_type = ElementType::kF32;
    return spec;
  }

  void HiddenBackward(DenseLayer& layer, const Activations& x, const GradientReady& ready) {
    const Activations& y = layer.out();
    context_.ops->ActivateBackward(Activation::kRelu, y.value, y.gradient, y.gradient);
    layer.Backward(context_, x.value.data, x.gradient.data, ready);
  }

  const AlexnetOptions options_;
  ConvolutionBlock first_, second_;
  Activations flat_;  // the second block's output, channel first
  DenseLayer hidden1_, hidden2_, logits_;
};

}  // namespace

std::unique_ptr<Model> MakeAlexnet(const ModelContext& context, const AlexnetOptions& options) {
  if (options.filters < 1 || options.dense < 1 || options.classes < 1 || options.image < 7) {
    throw Error(ErrorKind::kInvalidArgument,
                format("{} filters, {} dense values, {} classes and images of {} pixels are not "
                       "a valid alexnet",
                       options.filters, options.dense, options.classes, options.image),
                {}, "give one of each at least, and images of at least 7x7");
  }
  return std::make_unique<Alexnet>(context, options);
}

}  // namespace recpack::train
