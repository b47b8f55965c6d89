#include "src/train/models/residual_block.h"

#include "src/base/format.h"

namespace recpack::train {
namespace {

struct Plan {
  int kernel;
  int64_t channels;
  int stride;
};

std::vector<Plan> PlanConvolutions(const BlockShape& shape) {
  const int64_t channels = shape.channels;
  if (!shape.bottleneck) return {{3, channels, shape.stride}, {3, channels, 1}};
  return {{1, channels, 1}, {3, channels, shape.stride}, {1, shape.out_channels(), 1}};
}

}  // namespace

ResidualBlock::ResidualBlock(const ModelContext& context, const std::string& name, const Shape& in,
                             const BlockShape& shape)
    : Stage(name) {
  const std::vector<Plan> plan = PlanConvolutions(shape);
  Shape now = in;
  for (size_t i = 0; i < plan.size(); ++i) {
    ConvolutionLayer convolution(
        context, format("{}.conv{}", name, i + 1),
        SquareConvolution(context, now, plan[i].channels, plan[i].kernel, plan[i].stride));
    now = convolution.spec().out_shape();
    const bool last = i + 1 == plan.size();
    units_.push_back({std::move(convolution),
                      NormLayer(context, format("{}.bn{}", name, i + 1), now, last, true)});
  }
  if (shape.stride == 1 && in[1] == now[1]) return;
  around_.emplace(context, name + ".downsample.0",
                  SquareConvolution(context, in, now[1], 1, shape.stride));
  around_norm_.emplace(context, name + ".downsample.1", now, false, false);
}

void ResidualBlock::Build(const ModelContext& context) {
  for (Unit& unit : units_) {
    unit.convolution.Build(context);
    unit.norm.Build(context);
  }
  if (!around_) {
    around_gradient_.Allocate(context, out_shape(), context.type);
    return;
  }
  around_->Build(context);
  around_norm_->Build(context);
  around_gradient_.Allocate(context, around_->spec().in_shape(), context.type);
}

void ResidualBlock::Forward(const ModelContext& context, const void* x, bool training) {
  const void* input = x;
  for (size_t i = 0; i + 1 < units_.size(); ++i) {
    Unit& unit = units_[i];
    unit.convolution.Forward(context, input, training);
    unit.norm.Forward(context, unit.convolution.out().value.data, nullptr, training);
    input = unit.norm.out().value.data;
  }
  Unit& last = units_.back();
  last.convolution.Forward(context, input, training);
  const void* residual = x;
  if (around_) {
    around_->Forward(context, x, training);
    around_norm_->Forward(context, around_->out().value.data, nullptr, training);
    residual = around_norm_->out().value.data;
  }
  last.norm.Forward(context, last.convolution.out().value.data, residual, training);
}

void ResidualBlock::Backward(const ModelContext& context, const void* more, const void* x, void* dx,
                             const GradientReady& ready) {
  void* d_residual = around_ ? around_norm_->out().gradient.data : around_gradient_.gradient.data;
  const auto norm_backward = [&](Unit& unit, const void* dy_more, void* residual) {
    Activations& in = unit.convolution.out();
    unit.norm.Backward(context, dy_more, in.value.data, in.gradient.data, residual, ready);
  };
  norm_backward(units_.back(), more, d_residual);
  for (size_t i = units_.size() - 1; i > 0; --i) {
    Activations& in = units_[i - 1].norm.out();
    units_[i].convolution.Backward(context, in.value.data, in.gradient.data, ready);
    norm_backward(units_[i - 1], nullptr, nullptr);
  }
  units_.front().convolution.Backward(context, x, dx, ready);
  if (!around_) return;
  around_norm_->Backward(context, nullptr, around_->out().value.data, around_->out().gradient.data,
                         nullptr, ready);
  around_->Backward(context, x, around_gradient_.gradient.data, ready);
}

void ResidualBlock::AddOutputs(std::vector<LayerOutput>& all) {
  for (size_t i = 0; i < units_.size(); ++i) {
    all.push_back({format("{}.conv{}", name(), i + 1), units_[i].convolution.out().value});
    if (i + 1 == units_.size() && around_) {
      all.push_back({name() + ".downsample", around_norm_->out().value});
    }
    all.push_back({format("{}.bn{}", name(), i + 1), units_[i].norm.out().value});
  }
}

}  // namespace recpack::train
