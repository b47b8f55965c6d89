#include "src/train/layers/layers.h"

#include <utility>

#include "src/base/format.h"
#include "src/train/ops/memory_purpose.h"

namespace recpack::train {
namespace {

// Weight gradients, which nothing else in the backward pass reads.
void ComputeWeightGradients(const ModelContext& context, const std::function<void()>& work) {
  context.weights_beside ? context.ops->Beside(work) : work();
}

}  // namespace

void Activations::Allocate(const ModelContext& context, Shape shape, ElementType type) {
  value = {.type = type, .shape = std::move(shape), .layout = context.layout};
  gradient = value;
  WithMemoryFor(format("an activation {} {}", ShapeText(value.shape), ElementName(type)), [&] {
    value_memory = context.ops->Allocate(value.bytes());
    gradient_memory = context.ops->Allocate(gradient.bytes());
  });
  value.data = value_memory.data();
  gradient.data = gradient_memory.data();
}

ConvolutionSpec SquareConvolution(const ModelContext& context, const Shape& in, int64_t channels,
                                  int kernel, int stride) {
  return {.batch = context.batch,
          .in_channels = in[1],
          .height = in[2],
          .width = in[3],
          .out_channels = channels,
          .kernel_height = kernel,
          .kernel_width = kernel,
          .stride = stride,
          .pad_height = kernel / 2,
          .pad_width = kernel / 2,
          .type = context.type,
          .layout = context.layout};
}

PoolingSpec SquarePooling(const ModelContext& context, const Shape& in, PoolingKind kind,
                          int window, int stride) {
  return {.kind = kind,
          .batch = context.batch,
          .channels = in[1],
          .height = in[2],
          .width = in[3],
          .window_height = window,
          .window_width = window,
          .stride = stride,
          .type = context.type,
          .layout = context.layout};
}

ConvolutionLayer::ConvolutionLayer(const ModelContext& context, const std::string& name,
                                   ConvolutionSpec spec)
    : spec_(std::move(spec)) {
  spec_.name = name;
  const int64_t fan_in = spec_.in_channels * spec_.kernel_height * spec_.kernel_width;
  weight_ =
      context.variables->Add({name + ".weight", spec_.weight_shape(), Initial::kHeNormal, fan_in});
  if (spec_.bias) {
    bias_ = context.variables->Add(
        {name + ".bias", {spec_.out_channels}, Initial::kUniform, fan_in, true, false});
  }
}

void ConvolutionLayer::Build(const ModelContext& context) {
  operation_ = context.ops->MakeConvolution(spec_);
  out_.Allocate(context, spec_.out_shape(), spec_.type);
}

void ConvolutionLayer::Forward(const ModelContext& context, const void* x, bool training) {
  if (training) {
    context.need(weight_);
    if (spec_.bias) context.need(bias_);
  }
  const Variables& variables = *context.variables;
  operation_->SetWeights(variables.At(weight_), spec_.bias ? variables.At(bias_) : nullptr);
  operation_->Forward(x, out_.value.data);
}

void ConvolutionLayer::Backward(const ModelContext& context, const void* x, void* dx,
                                const GradientReady& ready) {
  const Variables& variables = *context.variables;
  ComputeWeightGradients(context, [&] {
    operation_->BackwardWeights(x, out_.gradient.data, variables.Gradient(weight_),
                                spec_.bias ? variables.Gradient(bias_) : nullptr);
  });
  if (dx) operation_->BackwardData(out_.gradient.data, dx);
  if (spec_.bias) ready(bias_);
  ready(weight_);
}

NormLayer::NormLayer(const ModelContext& context, const std::string& name, const Shape& shape,
                     bool residual, bool relu, float epsilon)
    : spec_{.batch = shape[0],
            .channels = shape[1],
            .height = shape[2],
            .width = shape[3],
            .residual = residual,
            .relu = relu,
            .fused = context.fused_norm,
            .epsilon = epsilon,
            .type = context.type,
            .layout = context.layout,
            .sum_over_devices = context.sum_over_devices,
            .name = name} {
  Variables& variables = *context.variables;
  const Shape by_channel = {spec_.channels};
  scale_ = variables.Add({name + ".weight", by_channel, Initial::kOnes, 1, true, false});
  shift_ = variables.Add({name + ".bias", by_channel, Initial::kZeros, 1, true, false});
  mean_ = variables.Add({name + ".running_mean", by_channel, Initial::kZeros, 1, false, false});
  variance_ = variables.Add({name + ".running_var", by_channel, Initial::kOnes, 1, false, false});
}

void NormLayer::Build(const ModelContext& context) {
  operation_ = context.ops->MakeBatchNorm(spec_);
  out_.Allocate(context, {spec_.batch, spec_.channels, spec_.height, spec_.width}, spec_.type);
}

BatchNormVariables NormLayer::Pointers(const ModelContext& context) const {
  const Variables& variables = *context.variables;
  return {variables.At(scale_), variables.At(shift_), variables.At(mean_), variables.At(variance_)};
}

void NormLayer::Forward(const ModelContext& context, const void* x, const void* residual,
                        bool training) {
  if (training) {
    context.need(scale_);
    context.need(shift_);
    operation_->Train(Pointers(context), x, residual, out_.value.data);
  } else {
    operation_->Infer(Pointers(context), x, residual, out_.value.data);
  }
}

void NormLayer::Backward(const ModelContext& context, const void* dy_more, const void* x, void* dx,
                         void* d_residual, const GradientReady& ready) {
  operation_->Backward(Pointers(context), out_.gradient.data, dy_more, x, out_.value.data, dx,
                       d_residual, context.variables->Gradient(scale_),
                       context.variables->Gradient(shift_));
  ready(shift_);
  ready(scale_);
}

DenseLayer::DenseLayer(const ModelContext& context, const std::string& name, DenseSpec spec,
                       Initial initial)
    : spec_(std::move(spec)) {
  spec_.name = name;
  weight_ = context.variables->Add({name + ".weight", {spec_.out, spec_.in}, initial, spec_.in});
  bias_ = context.variables->Add(
      {name + ".bias", {spec_.out}, Initial::kUniform, spec_.in, true, false});
}

void DenseLayer::Build(const ModelContext& context) {
  operation_ = context.ops->MakeDense(spec_);
  out_.Allocate(context, {spec_.batch, spec_.out}, spec_.out_type);
}

void DenseLayer::Forward(const ModelContext& context, const void* x, bool training) {
  if (training) {
    context.need(weight_);
    context.need(bias_);
  }
  operation_->SetWeights(context.variables->At(weight_), context.variables->At(bias_));
  operation_->Forward(x, out_.value.data);
}

void DenseLayer::Backward(const ModelContext& context, const void* x, void* dx,
                          const GradientReady& ready) {
  ComputeWeightGradients(context, [&] {
    operation_->BackwardWeights(x, out_.gradient.data, context.variables->Gradient(weight_),
                                context.variables->Gradient(bias_));
  });
  if (dx) operation_->BackwardData(out_.gradient.data, dx);
  ready(bias_);
  ready(weight_);
}

void PoolingLayer::Build(const ModelContext& context) {
  operation_ = context.ops->MakePooling(spec_);
  out_.Allocate(context, spec_.out_shape(), spec_.type);
}

}  // namespace recpack::train
