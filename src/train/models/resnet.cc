#include <optional>
#include <vector>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/models/model.h"

namespace recpack::train {
namespace {

constexpr int kStages = 4;
constexpr int kBlocks = 2;  // per stage

// Two convolutions and a shortcut: the identity, or a 1x1 convolution if the shape changes.
class Block {
 public:
  Block(const ModelContext& context, const std::string& name, const Shape& in, int64_t channels,
        int stride)
      : name_(name),
        first_(context, name + ".conv1", SquareConvolution(context, in, channels, 3, stride)),
        first_norm_(context, name + ".bn1", first_.spec().out_shape(), false, true),
        second_(context, name + ".conv2",
                SquareConvolution(context, first_.spec().out_shape(), channels, 3, 1)),
        second_norm_(context, name + ".bn2", first_.spec().out_shape(), true, true) {
    if (stride == 1 && in[1] == channels) return;
    around_.emplace(context, name + ".downsample.0",
                    SquareConvolution(context, in, channels, 1, stride));
    around_norm_.emplace(context, name + ".downsample.1", first_.spec().out_shape(), false, false);
  }

  void Build(const ModelContext& context) {
    first_.Build(context);
    first_norm_.Build(context);
    second_.Build(context);
    second_norm_.Build(context);
    if (!around_) {
      around_gradient_.Allocate(context, first_.spec().out_shape(), context.type);
      return;
    }
    around_->Build(context);
    around_norm_->Build(context);
    around_gradient_.Allocate(context, around_->spec().in_shape(), context.type);
  }

  void Forward(const ModelContext& context, const void* x, bool training) {
    first_.Forward(context, x, training);
    first_norm_.Forward(context, first_.out().value.data, nullptr, training);
    second_.Forward(context, first_norm_.out().value.data, training);
    const void* residual = x;
    if (around_) {
      around_->Forward(context, x, training);
      around_norm_->Forward(context, around_->out().value.data, nullptr, training);
      residual = around_norm_->out().value.data;
    }
    second_norm_.Forward(context, second_.out().value.data, residual, training);
  }

  // The gradient of the block's output is out().gradient, plus `more` if not null. The gradient of
  // x is dx plus the returned array.
  const void* Backward(const ModelContext& context, const void* more, const void* x, void* dx,
                       const GradientReady& ready) {
    void* d_residual = around_ ? around_norm_->out().gradient.data : around_gradient_.gradient.data;
    second_norm_.Backward(context, more, second_.out().value.data, second_.out().gradient.data,
                          d_residual, ready);
    second_.Backward(context, first_norm_.out().value.data, first_norm_.out().gradient.data, ready);
    first_norm_.Backward(context, nullptr, first_.out().value.data, first_.out().gradient.data,
                         nullptr, ready);
    first_.Backward(context, x, dx, ready);
    if (!around_) return d_residual;
    around_norm_->Backward(context, nullptr, around_->out().value.data,
                           around_->out().gradient.data, nullptr, ready);
    around_->Backward(context, x, around_gradient_.gradient.data, ready);
    return around_gradient_.gradient.data;
  }

  Activations& out() { return second_norm_.out(); }
  void Name(std::vector<LayerOutput>& all) {
    all.push_back({name_ + ".conv1", first_.out().value});
    all.push_back({name_ + ".bn1", first_norm_.out().value});
    all.push_back({name_ + ".conv2", second_.out().value});
    if (around_) all.push_back({name_ + ".downsample", around_norm_->out().value});
    all.push_back({name_ + ".bn2", second_norm_.out().value});
  }
  Shape out_shape() const { return first_.spec().out_shape(); }

 private:
  std::string name_;
  ConvolutionLayer first_;
  NormLayer first_norm_;
  ConvolutionLayer second_;
  NormLayer second_norm_;
  std::optional<ConvolutionLayer> around_;
  std::optional<NormLayer> around_norm_;
  Activations around_gradient_;  // gradient of x through the shortcut
};

class Resnet final : public Model {
 public:
  Resnet(const ModelContext& context, const ResnetOptions& options)
      : Model(context),
        options_(options),
        stem_(context_, "conv1",
              SquareConvolution(context_, {context.batch, 3, options.image, options.image},
                                options.width, 3, 1)),
        stem_norm_(context_, "bn1", stem_.spec().out_shape(), false, true) {
    Shape shape = stem_.spec().out_shape();
    for (int stage = 0; stage < kStages; ++stage) {
      for (int block = 0; block < kBlocks; ++block) {
        const int stride = stage > 0 && block == 0 ? 2 : 1;
        blocks_.emplace_back(context_, format("layer{}.{}", stage + 1, block), shape,
                             options.width << stage, stride);
        shape = blocks_.back().out_shape();
      }
    }
    pooling_.emplace(PoolingSpec{.kind = PoolingKind::kAverage,
                                 .batch = context.batch,
                                 .channels = shape[1],
                                 .height = shape[2],
                                 .width = shape[3],
                                 .window_height = static_cast<int>(shape[2]),
                                 .window_width = static_cast<int>(shape[3]),
                                 .type = context.type,
                                 .layout = context.layout});
    dense_.emplace(
        context_, "fc",
        DenseSpec{
            .batch = context.batch, .in = shape[1], .out = options.classes, .type = context.type});
  }

  std::string name() const override { return "resnet"; }
  std::string options() const override {
    return format(R"({{"classes":{},"image":{},"width":{}}})", options_.classes, options_.image,
                  options_.width);
  }

  void Build(int slots, uint64_t seed) override {
    variables_.Allocate(*context_.ops, slots, seed);
    stem_.Build(context_);
    stem_norm_.Build(context_);
    for (Block& block : blocks_) block.Build(context_);
    pooling_->Build(context_);
    dense_->Build(context_);
  }

  void Forward(const BatchArrays& batch, const uint8_t* mask, bool training, float scale,
               LossSums* sums) override {
    stem_.Forward(context_, batch.Raw("image"), training);
    stem_norm_.Forward(context_, stem_.out().value.data, nullptr, training);
    const void* x = stem_norm_.out().value.data;
    for (Block& block : blocks_) {
      block.Forward(context_, x, training);
      x = block.out().value.data;
    }
    pooling_->Forward(x);
    dense_->Forward(context_, pooling_->out().value.data, training);
    context_.ops->SoftmaxCrossEntropy(
        dense_->out().value, static_cast<const int64_t*>(batch.Raw("label")), mask, scale,
        training ? dense_->out().gradient.As<float>() : nullptr, sums);
  }

  std::vector<LayerOutput> Activity() override {
    std::vector<LayerOutput> all = {{"conv1", stem_.out().value}, {"bn1", stem_norm_.out().value}};
    for (Block& block : blocks_) block.Name(all);
    all.push_back({"avgpool", pooling_->out().value});
    all.push_back({"fc", dense_->out().value});
    return all;
  }

  void Backward(const BatchArrays& batch, const GradientReady& ready) override {
    dense_->Backward(context_, pooling_->out().value.data, pooling_->out().gradient.data, ready);
    pooling_->Backward(blocks_.back().out().gradient.data);
    const void* more = nullptr;
    for (size_t i = blocks_.size(); i-- > 0;) {
      Activations& in = i > 0 ? blocks_[i - 1].out() : stem_norm_.out();
      more = blocks_[i].Backward(context_, more, in.value.data, in.gradient.data, ready);
    }
    stem_norm_.Backward(context_, more, stem_.out().value.data, stem_.out().gradient.data, nullptr,
                        ready);
    stem_.Backward(context_, batch.Raw("image"), nullptr, ready);
  }

 private:
  const ResnetOptions options_;
  ConvolutionLayer stem_;
  NormLayer stem_norm_;
  std::vector<Block> blocks_;
  std::optional<PoolingLayer> pooling_;
  std::optional<DenseLayer> dense_;
};

}  // namespace

std::unique_ptr<Model> MakeResnet(const ModelContext& context, const ResnetOptions& options) {
  if (options.width < 1 || options.classes < 1 || options.image < 1) {
    throw Error(ErrorKind::kInvalidArgument,
                format("{} channels, {} classes and images of {} pixels are not a valid resnet",
                       options.width, options.classes, options.image),
                {}, "give one of each at least");
  }
  return std::make_unique<Resnet>(context, options);
}

}  // namespace recpack::train
