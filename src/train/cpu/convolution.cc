#include <algorithm>
#include <string_view>

#include "src/train/cpu/onednn.h"

namespace recpack::train {
namespace {

using dnnl::memory;
using Forwards = dnnl::convolution_forward;
using BackwardsData = dnnl::convolution_backward_data;
using BackwardsWeights = dnnl::convolution_backward_weights;

constexpr uint16_t kOneInBf16 = 0x3f80;

// Computes the gradient of a bias, the sum of dy over pixels. Multiplies a row of ones with dy,
// with f32 sums. oneDNN's convolutions take as long for this as for the gradient of their weights.
class BiasGradient {
 public:
  BiasGradient() = default;
  // dy: `pixels` rows of `channels` values.
  BiasGradient(const CpuContext& context, int64_t pixels, int64_t channels, ElementType type);

  void Run(const CpuContext& context, const void* dy, float* d_bias);

 private:
  dnnl::matmul product_;
  dnnl::memory ones_, dy_, sums_;
};

BiasGradient::BiasGradient(const CpuContext& context, int64_t pixels, int64_t channels,
                           ElementType type)
    : ones_(DnnlDense({1, pixels}, type), context.engine),
      dy_(DnnlDense({pixels, channels}, type), context.engine, nullptr),
      sums_(DnnlDense({1, channels}, ElementType::kF32), context.engine, nullptr) {
  product_ = dnnl::matmul(dnnl::matmul::primitive_desc(context.engine, ones_.get_desc(),
                                                       dy_.get_desc(), sums_.get_desc()));
  if (type == ElementType::kBf16) {
    std::fill_n(static_cast<uint16_t*>(ones_.get_data_handle()), pixels, kOneInBf16);
  } else {
    std::fill_n(static_cast<float*>(ones_.get_data_handle()), pixels, 1.0F);
  }
}

void BiasGradient::Run(const CpuContext& context, const void* dy, float* d_bias) {
  dy_.set_data_handle(const_cast<void*>(dy));
  sums_.set_data_handle(d_bias);
  product_.execute(context.stream,
                   {{DNNL_ARG_SRC, ones_}, {DNNL_ARG_WEIGHTS, dy_}, {DNNL_ARG_DST, sums_}});
}

// oneDNN's JIT kernels for gradients of 1x1 weights write beyond their workspace where channels do
// not fill their vectors: issue 6035 of oneDNN. Another implementation is used.
void PassOverOverrun(const ConvolutionSpec& spec, BackwardsWeights::primitive_desc& gradient) {
  const auto overruns = [&] {
    const std::string_view name = gradient.impl_info_str();
    const int64_t lanes = name.find("avx512") == name.npos ? 8 : 16;
    return name.starts_with("jit_1x1") &&
           (spec.in_channels % lanes != 0 || spec.out_channels % lanes != 0);
  };
  while (overruns() && gradient.next_impl()) {
  }
}

class CpuConvolution final : public Convolution {
 public:
  CpuConvolution(const CpuContext& context, const ConvolutionSpec& spec)
      : context_(context),
        bias_(spec.bias),
        // NCHW images are converted anyway, and the convolution computes the bias gradient.
        own_bias_gradient_(spec.bias && spec.layout == ImageLayout::kNhwc) {
    const memory::dims strides = {spec.stride, spec.stride};
    const memory::dims pad = {spec.pad_height, spec.pad_width};
    const auto x = DnnlPicture(spec.in_shape(), spec.type, spec.layout);
    const auto y = DnnlPicture(spec.out_shape(), spec.type, spec.layout);
    // oneDNN's kernels for plain NCHW are slow, so oneDNN chooses the layout and arrays are
    // converted.
    const bool chosen = spec.layout == ImageLayout::kNchw;
    const auto any = [&](const memory::desc& plain) {
      return chosen ? memory::desc(plain.get_dims(), plain.get_data_type(), memory::format_tag::any)
                    : plain;
    };
    const memory::desc weights(spec.weight_shape(), DnnlType(spec.type), memory::format_tag::any);
    const memory::desc d_weights(spec.weight_shape(), memory::data_type::f32,
                                 memory::format_tag::any);
    const memory::desc bias =
        bias_ ? DnnlDense({spec.out_channels}, ElementType::kF32) : memory::desc();
    constexpr auto kDirect = dnnl::algorithm::convolution_direct;
    const auto& engine = context.engine;
    const dnnl::primitive_attr attributes = Scratchpad::Attributes();

    const Forwards::primitive_desc forward(engine, dnnl::prop_kind::forward_training, kDirect,
                                           any(x), weights, bias, any(y), strides, pad, pad,
                                           attributes);
    const BackwardsData::primitive_desc data(engine, kDirect, any(x), weights, any(y), strides, pad,
                                             pad, forward, attributes);
    BackwardsWeights::primitive_desc gradient(engine, kDirect, any(x), d_weights,
                                              own_bias_gradient_ ? memory::desc() : bias, any(y),
                                              strides, pad, pad, forward, attributes);
    PassOverOverrun(spec, gradient);
    forward_space_ = forward.scratchpad_desc();
    data_space_ = data.scratchpad_desc();
    gradient_space_ = gradient.scratchpad_desc();
    for (const auto& space : {forward_space_, data_space_, gradient_space_}) {
      context.scratchpad->Reserve(space, engine);
    }
    forward_ = Forwards(forward);
    data_ = BackwardsData(data);
    gradient_ = BackwardsWeights(gradient);

    const auto plain = DnnlDense(spec.weight_shape(), ElementType::kF32);
    forward_weights_ = {context, plain, forward.weights_desc()};
    data_weights_ = {context, plain, data.weights_desc()};
    d_weights_ = {context, plain, gradient.diff_weights_desc()};
    x_ = {context, x, forward.src_desc()};
    y_ = {context, y, forward.dst_desc()};
    data_dy_ = {context, y, data.diff_dst_desc()};
    data_dx_ = {context, x, data.diff_src_desc()};
    gradient_x_ = {context, x, gradient.src_desc()};
    gradient_dy_ = {context, y, gradient.diff_dst_desc()};
    bias_memory_ = {bias, engine, nullptr};
    d_bias_memory_ = {bias, engine, nullptr};
    if (own_bias_gradient_) {
      bias_gradient_ = {context, spec.batch * spec.out_height() * spec.out_width(),
                        spec.out_channels, spec.type};
    }
  }

  void SetWeights(const float* weights, const float* bias) override {
    forward_weights_.In(context_, weights);
    data_weights_.In(context_, weights);
    if (bias_) bias_memory_.set_data_handle(const_cast<float*>(bias));
  }

  void Forward(const void* x, void* y) override {
    std::unordered_map<int, memory> arguments = {{DNNL_ARG_SRC, x_.In(context_, x)},
                                                 {DNNL_ARG_WEIGHTS, forward_weights_.memory()},
                                                 {DNNL_ARG_DST, y_.Out(y)}};
    if (bias_) arguments.emplace(DNNL_ARG_BIAS, bias_memory_);
    context_.scratchpad->AddTo(arguments, forward_space_, context_.engine);
    forward_.execute(context_.stream, arguments);
    y_.Finish(context_);
  }

  void BackwardData(const void* dy, void* dx) override {
    std::unordered_map<int, memory> arguments = {{DNNL_ARG_DIFF_DST, data_dy_.In(context_, dy)},
                                                 {DNNL_ARG_WEIGHTS, data_weights_.memory()},
                                                 {DNNL_ARG_DIFF_SRC, data_dx_.Out(dx)}};
    context_.scratchpad->AddTo(arguments, data_space_, context_.engine);
    data_.execute(context_.stream, arguments);
    data_dx_.Finish(context_);
  }

  void BackwardWeights(const void* x, const void* dy, float* d_weights, float* d_bias) override {
    std::unordered_map<int, memory> arguments = {
        {DNNL_ARG_SRC, gradient_x_.In(context_, x)},
        {DNNL_ARG_DIFF_DST, gradient_dy_.In(context_, dy)},
        {DNNL_ARG_DIFF_WEIGHTS, d_weights_.Out(d_weights)}};
    if (own_bias_gradient_) {
      bias_gradient_.Run(context_, dy, d_bias);
    } else if (bias_) {
      d_bias_memory_.set_data_handle(d_bias);
      arguments.emplace(DNNL_ARG_DIFF_BIAS, d_bias_memory_);
    }
    context_.scratchpad->AddTo(arguments, gradient_space_, context_.engine);
    gradient_.execute(context_.stream, arguments);
    d_weights_.Finish(context_);
  }

 private:
  const CpuContext& context_;
  const bool bias_, own_bias_gradient_;
  Forwards forward_;
  BackwardsData data_;
  BackwardsWeights gradient_;
  memory::desc forward_space_, data_space_, gradient_space_;  // of the scratchpad
  DnnlArray forward_weights_, data_weights_, d_weights_;
  DnnlArray x_, y_, data_dy_, data_dx_, gradient_x_, gradient_dy_;
  memory bias_memory_, d_bias_memory_;
  BiasGradient bias_gradient_;
};

}  // namespace

std::unique_ptr<Convolution> MakeCpuConvolution(const CpuContext& context,
                                                const ConvolutionSpec& spec) {
  return WithDnnl("a convolution of " + ShapeText(spec.in_shape()),
                  [&] { return std::make_unique<CpuConvolution>(context, spec); });
}

}  // namespace recpack::train
