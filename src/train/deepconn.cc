#include "recpack/base/error.h"
#include "recpack/train/model.h"
#include "src/base/format.h"

namespace recpack {
namespace {

// Reads one side's reviews: embedding, convolution over tokens, maximum over time, tanh, dense
// layer with ReLU. tanh rises, so that the maximum of its values is that of its maximum, which is
// taken first: fewer values to take it of.
class ReviewTower {
 public:
  ReviewTower(const ModelContext& context, const std::string& name, const DeepconnOptions& options)
      : name_(name),
        embedding_spec_{.batch = context.batch,
                        .length = options.max_tokens,
                        .vocabulary = options.vocabulary,
                        .dims = options.dims,
                        .id_type = ValueType::kI32,
                        .type = context.type,
                        .layout = context.layout},
        // Without decay: it would wear off the vectors of tokens that are seldom seen.
        table_(context.variables->Add({name + ".embedding.weight", embedding_spec_.table_shape(),
                                       Initial::kEmbedding, 1, true, false})),
        convolution_(context, name + ".conv", ConvolutionOver(context, options)),
        pooling_({.kind = PoolingKind::kMax,
                  .batch = context.batch,
                  .channels = options.filters,
                  .height = 1,
                  .width = convolution_.spec().out_width(),
                  .window_height = 1,
                  .window_width = static_cast<int>(convolution_.spec().out_width()),
                  .type = context.type,
                  .layout = context.layout}),
        dense_(context, name + ".fc",
               {.batch = context.batch,
                .in = options.filters,
                .out = options.latent,
                .type = context.type,
                .out_type = context.type}) {}

  void Build(const ModelContext& context) {
    embedding_ = context.ops->MakeEmbedding(embedding_spec_);
    embedded_.Allocate(context, embedding_spec_.out_shape(), context.type);
    convolution_.Build(context);
    pooling_.Build(context);
    dense_.Build(context);
  }

  void Forward(const ModelContext& context, const BatchArrays& batch, bool training,
               LossSums* sums) {
    if (training) context.need(table_);
    embedding_->Forward(Tokens(batch), context.variables->At(table_), embedded_.value.data, sums);
    convolution_.Forward(context, embedded_.value.data, training);
    pooling_.Forward(convolution_.out().value.data);
    const Tensor& pooled = pooling_.out().value;
    context.ops->Activate(Activation::kTanh, pooled, pooled);
    dense_.Forward(context, pooled.data, training);
    context.ops->Activate(Activation::kRelu, out().value, out().value);
  }

  // Of out().gradient, which it changes.
  void Backward(const ModelContext& context, const BatchArrays& batch, const GradientReady& ready) {
    const Activations& pooled = pooling_.out();
    context.ops->ActivateBackward(Activation::kRelu, out().value, out().gradient, out().gradient);
    dense_.Backward(context, pooled.value.data, pooled.gradient.data, ready);
    context.ops->ActivateBackward(Activation::kTanh, pooled.value, pooled.gradient,
                                  pooled.gradient);
    pooling_.Backward(convolution_.out().gradient.data);
    convolution_.Backward(context, embedded_.value.data, embedded_.gradient.data, ready);
    embedding_->Backward(Tokens(batch), embedded_.gradient.data,
                         context.variables->Gradient(table_));
    ready(table_);
  }

  Activations& out() noexcept { return dense_.out(); }
  void Name(std::vector<std::pair<std::string, Tensor>>& all) {
    all.emplace_back(name_ + ".embedding", embedded_.value);
    all.emplace_back(name_ + ".conv", convolution_.out().value);
    all.emplace_back(name_ + ".pool", pooling_.out().value);
    all.emplace_back(name_ + ".fc", out().value);
  }

 private:
  const void* Tokens(const BatchArrays& batch) const { return batch.Raw(name_ + "_tokens"); }

  // Over text: a picture of height 1. Without padding, as every token list is padded to length.
  static ConvolutionSpec ConvolutionOver(const ModelContext& context,
                                         const DeepconnOptions& options) {
    return {.batch = context.batch,
            .in_channels = options.dims,
            .height = 1,
            .width = options.max_tokens,
            .out_channels = options.filters,
            .kernel_width = options.kernel,
            .bias = true,
            .type = context.type,
            .layout = context.layout};
  }

  const std::string name_;
  const EmbeddingSpec embedding_spec_;
  const size_t table_;
  std::unique_ptr<Embedding> embedding_;
  Activations embedded_;
  ConvolutionLayer convolution_;
  PoolingLayer pooling_;
  DenseLayer dense_;
};

class Deepconn final : public Model {
 public:
  Deepconn(const ModelContext& context, const DeepconnOptions& options)
      : Model(context),
        options_(options),
        user_(context_, "user", options),
        item_(context_, "item", options),
        bias_(variables_.Add({"fm.bias", {1}, Initial::kZeros, 1, true, false})),
        weights_(variables_.Add({"fm.weight", {2 * options.latent}, Initial::kZeros})),
        factors_(variables_.Add(
            {"fm.factors", {2 * options.latent, options.factors}, Initial::kEmbedding})) {}

  std::string name() const override { return "deepconn"; }
  std::string options() const override {
    return format(
        R"({{"dims":{},"factors":{},"filters":{},"kernel":{},"latent":{},"max_tokens":{},)"
        R"("vocabulary":{}}})",
        options_.dims, options_.factors, options_.filters, options_.kernel, options_.latent,
        options_.max_tokens, options_.vocabulary);
  }

  void Build(int slots, uint64_t seed) override {
    variables_.Allocate(*context_.ops, slots, seed);
    user_.Build(context_);
    item_.Build(context_);
    machine_ = context_.ops->MakeFactorisation({.batch = context_.batch,
                                                .first = options_.latent,
                                                .second = options_.latent,
                                                .factors = options_.factors,
                                                .type = context_.type});
    rating_.Allocate(context_, {context_.batch}, ValueType::kF32);
  }

  void Forward(const BatchArrays& batch, const uint8_t* mask, bool training, float scale,
               LossSums* sums) override {
    context_.ops->Zero(sums, sizeof *sums);
    user_.Forward(context_, batch, training, sums);
    item_.Forward(context_, batch, training, sums);
    if (training) {
      for (const size_t variable : {bias_, weights_, factors_}) context_.need(variable);
    }
    machine_->Forward(MachineVariables(), user_.out().value.data, item_.out().value.data,
                      rating_.value.As<float>());
    context_.ops->SquaredError(rating_.value, static_cast<const float*>(batch.Raw("rating")), mask,
                               scale, training ? rating_.gradient.As<float>() : nullptr, sums);
  }

  std::vector<std::pair<std::string, Tensor>> Activity() override {
    std::vector<std::pair<std::string, Tensor>> all;
    user_.Name(all);
    item_.Name(all);
    all.emplace_back("fm", rating_.value);
    return all;
  }

  void Backward(const BatchArrays& batch, const GradientReady& ready) override {
    machine_->Backward(
        MachineVariables(), user_.out().value.data, item_.out().value.data,
        rating_.gradient.As<float>(), user_.out().gradient.data, item_.out().gradient.data,
        {variables_.Gradient(bias_), variables_.Gradient(weights_), variables_.Gradient(factors_)});
    for (const size_t variable : {factors_, weights_, bias_}) ready(variable);
    item_.Backward(context_, batch, ready);
    user_.Backward(context_, batch, ready);
  }

 private:
  FactorisationArrays<const float> MachineVariables() const {
    return {variables_.At(bias_), variables_.At(weights_), variables_.At(factors_)};
  }

  const DeepconnOptions options_;
  ReviewTower user_, item_;
  const size_t bias_, weights_, factors_;
  std::unique_ptr<Factorisation> machine_;
  Activations rating_;  // as predicted
};

}  // namespace

std::unique_ptr<Model> MakeDeepconn(const ModelContext& context, const DeepconnOptions& options) {
  for (const auto& [value, name] : {std::pair(options.vocabulary, "vocabulary"),
                                    {options.dims, "vector"},
                                    {options.filters, "filters"},
                                    {int64_t{options.kernel}, "kernel"},
                                    {options.latent, "latent values"},
                                    {options.factors, "factors"}}) {
    if (value >= 1) continue;
    throw Error(ErrorKind::kInvalidArgument, format("the size of deepconn's {} is {}", name, value),
                {}, "give 1 at least");
  }
  if (options.max_tokens < options.kernel) {
    throw Error(ErrorKind::kInvalidArgument,
                format("deepconn's filters see {} tokens, and texts have {} at most",
                       options.kernel, options.max_tokens),
                {}, "give more tokens");
  }
  return std::make_unique<Deepconn>(context, options);
}

}  // namespace recpack
