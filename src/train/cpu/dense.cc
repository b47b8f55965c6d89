#include "src/train/cpu/onednn.h"

namespace recpack::train {
namespace {

using dnnl::memory;
using DenseForwards = dnnl::inner_product_forward;
using DenseBackwardsData = dnnl::inner_product_backward_data;
using DenseBackwardsWeights = dnnl::inner_product_backward_weights;

class CpuDense final : public Dense {
 public:
  CpuDense(const CpuContext& context, const DenseSpec& spec) : context_(context) {
    // Gradients have the type of x; if y has another type, they are converted.
    const auto x = DnnlDense({spec.batch, spec.in}, spec.type);
    const auto y = DnnlDense({spec.batch, spec.out}, spec.out_type);
    const auto dy = DnnlDense({spec.batch, spec.out}, spec.type);
    const memory::dims shape = {spec.out, spec.in};
    const memory::desc weights(shape, DnnlType(spec.type), memory::format_tag::any);
    const memory::desc d_weights(shape, memory::data_type::f32, memory::format_tag::any);
    const auto bias = DnnlDense({spec.out}, ElementType::kF32);
    const auto& engine = context.engine;

    const DenseForwards::primitive_desc forward(engine, dnnl::prop_kind::forward_training, x,
                                                weights, bias, y);
    const DenseBackwardsData::primitive_desc data(engine, x, weights, dy, forward);
    const DenseBackwardsWeights::primitive_desc gradient(engine, x, d_weights, bias, dy, forward);
    forward_ = DenseForwards(forward);
    data_ = DenseBackwardsData(data);
    gradient_ = DenseBackwardsWeights(gradient);

    const auto plain = DnnlDense(shape, ElementType::kF32);
    forward_weights_ = {context, plain, forward.weights_desc()};
    data_weights_ = {context, plain, data.weights_desc()};
    d_weights_ = {context, plain, gradient.diff_weights_desc()};
    x_ = memory(x, engine, nullptr);
    dx_ = memory(x, engine, nullptr);
    y_ = memory(y, engine, nullptr);
    dy_ = {context, y, dy};
    bias_ = memory(bias, engine, nullptr);
    d_bias_ = memory(bias, engine, nullptr);
  }

  void SetWeights(const float* weights, const float* bias) override {
    forward_weights_.In(context_, weights);
    data_weights_.In(context_, weights);
    bias_.set_data_handle(const_cast<float*>(bias));
  }

  void Forward(const void* x, void* y) override {
    x_.set_data_handle(const_cast<void*>(x));
    y_.set_data_handle(y);
    forward_.execute(context_.stream, {{DNNL_ARG_SRC, x_},
                                       {DNNL_ARG_WEIGHTS, forward_weights_.memory()},
                                       {DNNL_ARG_BIAS, bias_},
                                       {DNNL_ARG_DST, y_}});
  }

  void BackwardData(const void* dy, void* dx) override {
    dx_.set_data_handle(dx);
    data_.execute(context_.stream, {{DNNL_ARG_DIFF_DST, dy_.In(context_, dy)},
                                    {DNNL_ARG_WEIGHTS, data_weights_.memory()},
                                    {DNNL_ARG_DIFF_SRC, dx_}});
  }

  void BackwardWeights(const void* x, const void* dy, float* d_weights, float* d_bias) override {
    x_.set_data_handle(const_cast<void*>(x));
    d_bias_.set_data_handle(d_bias);
    gradient_.execute(context_.stream, {{DNNL_ARG_SRC, x_},
                                        {DNNL_ARG_DIFF_DST, dy_.In(context_, dy)},
                                        {DNNL_ARG_DIFF_WEIGHTS, d_weights_.Out(d_weights)},
                                        {DNNL_ARG_DIFF_BIAS, d_bias_}});
    d_weights_.Finish(context_);
  }

 private:
  const CpuContext& context_;
  DenseForwards forward_;
  DenseBackwardsData data_;
  DenseBackwardsWeights gradient_;
  DnnlArray forward_weights_, data_weights_, d_weights_, dy_;
  memory x_, dx_, y_, bias_, d_bias_;
};

}  // namespace

std::unique_ptr<Dense> MakeCpuDense(const CpuContext& context, const DenseSpec& spec) {
  return WithDnnl("a dense layer of " + ShapeText({spec.batch, spec.in}),
                  [&] { return std::make_unique<CpuDense>(context, spec); });
}

}  // namespace recpack::train
