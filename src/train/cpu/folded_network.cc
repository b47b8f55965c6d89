#include "src/train/cpu/folded_network.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/train/cpu/fold.h"
#include "src/train/cpu/onednn.h"
#include "src/train/trace/fused_steps.h"

namespace recpack::train {
namespace {

using dnnl::memory;

memory::desc ToDesc(const Tensor& tensor) {
  return tensor.shape.size() == 4 ? DnnlPicture(tensor.shape, ElementType::kF32, tensor.layout)
                                  : DnnlDense(tensor.shape, ElementType::kF32);
}

memory::desc AnyWeights(const Shape& shape) {
  return {shape, memory::data_type::f32, memory::format_tag::any};
}

}  // namespace

struct FoldedNetwork::Program {
  explicit Program(const Trace& trace)
      : traced_input(trace.input.data), engine(dnnl::engine::kind::cpu, 0), stream(engine) {
    for (const FusedStep& step : FuseSteps(trace)) {
      std::visit([&](const auto& what) { Take(step, what); }, step.first->what);
    }
  }

  void Take(const FusedStep& step, const TracedConvolution& convolution) {
    const ConvolutionSpec& spec = convolution.spec;
    const memory::dims strides = {spec.stride, spec.stride};
    const memory::dims pad = {spec.pad_height, spec.pad_width};
    const dnnl::convolution_forward::primitive_desc desc(
        engine, dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
        ToDesc(step.first->x), AnyWeights(spec.weight_shape()),
        DnnlDense({spec.out_channels}, ElementType::kF32), ToDesc(step.y), strides, pad, pad,
        Attributes(step));
    AddLayer<dnnl::convolution_forward>(desc, step, Fold(convolution, step.norm),
                                        spec.weight_shape());
  }

  void Take(const FusedStep& step, const TracedDense& dense) {
    const Shape shape = {dense.spec.out, dense.spec.in};
    const dnnl::inner_product_forward::primitive_desc desc(
        engine, dnnl::prop_kind::forward_inference, ToDesc(step.first->x), AnyWeights(shape),
        DnnlDense({dense.spec.out}, ElementType::kF32), ToDesc(step.y), Attributes(step));
    AddLayer<dnnl::inner_product_forward>(desc, step, Fold(dense), shape);
  }

  template <typename Other>
  void Take(const FusedStep& step, const Other&) {
    if (step.first->x.data == traced_input) {
      throw Error(ErrorKind::kUnsupported, "the network does not begin with a convolution", {},
                  "evaluate it without folding");
    }
    actions.push_back([run = step.first->run](const void*) { run(); });
  }

  static dnnl::primitive_attr Attributes(const FusedStep& step) {
    dnnl::post_ops post;
    if (step.residual()) post.append_binary(dnnl::algorithm::binary_add, ToDesc(step.y));
    if (step.relu) post.append_eltwise(dnnl::algorithm::eltwise_relu, 0, 0);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(post);
    return attributes;
  }

  memory Floats(const memory::desc& desc, const std::vector<float>& values) const {
    memory floats(desc, engine);
    std::copy(values.begin(), values.end(), static_cast<float*>(floats.get_data_handle()));
    return floats;
  }

  template <typename Layer, typename Desc>
  void AddLayer(const Desc& desc, const FusedStep& step, const FoldedWeights& folded,
                const Shape& shape) {
    const memory plain = Floats(DnnlDense(shape, ElementType::kF32), folded.weights);
    const memory weights(desc.weights_desc(), engine);
    dnnl::reorder(plain, weights).execute(stream, {{DNNL_ARG_FROM, plain}, {DNNL_ARG_TO, weights}});
    std::unordered_map<int, memory> arguments = {
        {DNNL_ARG_SRC, {desc.src_desc(), engine, step.first->x.data}},
        {DNNL_ARG_WEIGHTS, weights},
        {DNNL_ARG_BIAS, Floats(desc.bias_desc(), folded.bias)},
        {DNNL_ARG_DST, {desc.dst_desc(), engine, step.y.data}}};
    if (const void* const data = step.residual()) {
      arguments[DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1] =
          memory(desc.dst_desc(), engine, const_cast<void*>(data));
    }
    const bool of_input = step.first->x.data == traced_input;
    actions.push_back([this, layer = Layer(desc), arguments = std::move(arguments),
                       of_input](const void* input) mutable {
      if (of_input) arguments[DNNL_ARG_SRC].set_data_handle(const_cast<void*>(input));
      layer.execute(stream, arguments);
    });
  }

  const void* traced_input;
  dnnl::engine engine;
  dnnl::stream stream;
  std::vector<std::function<void(const void* input)>> actions;
};

FoldedNetwork::FoldedNetwork(const Trace& trace)
    : program_(WithDnnl("a folded network", [&] { return std::make_unique<Program>(trace); })) {}

FoldedNetwork::~FoldedNetwork() = default;

void FoldedNetwork::Run(const void* input) const {
  for (const auto& action : program_->actions) action(input);
}

}  // namespace recpack::train
