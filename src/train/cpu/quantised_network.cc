#include "src/train/cpu/quantised_network.h"

#include <algorithm>
#include <utility>

#include "src/train/cpu/fold.h"
#include "src/train/cpu/integer_values.h"
#include "src/train/cpu/onednn.h"
#include "src/train/trace/fused_steps.h"

namespace recpack::train {
namespace {

using dnnl::memory;
using DataType = memory::data_type;

memory::desc AnyWeights(const Shape& shape) {
  return {shape, DataType::s8, memory::format_tag::any};
}

Tensor At(const void* data, Tensor as) {
  as.data = const_cast<void*>(data);
  return as;
}

// Builds the network, step by step.
class Lowering {
 public:
  Lowering(const Trace& trace, const ActivationRanges& ranges)
      : trace_(trace), steps_(FuseSteps(trace)), values_(trace, ranges) {}

  void Lower() {
    for (const FusedStep& step : steps_) {
      ++next_;
      std::visit([&](const auto& what) { Take(step, what); }, step.first->what);
    }
    values_.InFloats(trace_.logits);
  }

  IntegerValues& values() noexcept { return values_; }
  OperationCounts counts() const noexcept { return counts_; }

 private:
  void Take(const FusedStep& step, const TracedNorm& norm) {
    if (norm.residual) values_.InFloats(At(norm.residual, step.y));
    AsTraced(*step.first);
  }

  void Take(const FusedStep& fused, const TracedPooling& pooling) {
    const TracedStep& step = *fused.first;
    const IntegerValue* there = values_.Find(step.x.data);
    const PoolingSpec& spec = pooling.spec;
    if (spec.kind != PoolingKind::kMax || !there) return AsTraced(step);
    const IntegerValue x = *there;
    const IntegerValue y = values_.Make(step.y, x.type, x.scale);
    const memory::dims strides = {spec.stride, spec.stride}, none = {0, 0};
    const memory::dims window = {spec.window_height, spec.window_width}, pad = {spec.pad, spec.pad};
    const memory::dims end_pad = {spec.end_pad_height(), spec.end_pad_width()};
    const dnnl::pooling_forward::primitive_desc desc(
        values_.engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::pooling_max,
        IntegerValues::ToDesc(step.x, x.type), IntegerValues::ToDesc(step.y, y.type), strides,
        window, none, pad, end_pad);
    values_.Add(dnnl::pooling_forward(desc), {{DNNL_ARG_SRC, values_.ToMemory(step.x, x)},
                                              {DNNL_ARG_DST, values_.ToMemory(step.y, y)}});
    ++counts_.int8;
  }

  void Take(const FusedStep& fused, const TracedDense& dense) {
    const TracedStep& step = *fused.first;
    if (step.y.data == trace_.logits.data) return AsTraced(step);
    const IntegerValue x = values_.InIntegers(step.x), y = values_.Make(step.y, fused.relu);
    const Shape shape = {dense.spec.out, dense.spec.in};
    const dnnl::inner_product_forward::primitive_desc desc(
        values_.engine(), dnnl::prop_kind::forward_inference, IntegerValues::ToDesc(step.x, x.type),
        AnyWeights(shape), DnnlDense({dense.spec.out}, ElementType::kF32),
        IntegerValues::ToDesc(step.y, y.type), Attributes({}, fused.relu));
    AddLayer<dnnl::inner_product_forward>(desc, values_.ToMemory(step.x, x),
                                          values_.ToMemory(step.y, y), {x.scale, y.scale},
                                          Fold(dense), shape);
  }

  void Take(const FusedStep& step, const TracedActivation&) { AsTraced(*step.first); }

  void Take(const FusedStep& fused, const TracedConcatenation& concatenation) {
    const TracedStep& step = *fused.first;
    const bool is_unsigned = std::ranges::all_of(concatenation.parts, [&](const Tensor& part) {
      return values_.InIntegers(part).type == DataType::u8;
    });
    const IntegerValue y = values_.Make(step.y, is_unsigned);
    const memory whole = values_.ToMemory(step.y, y);
    memory::dims begin(step.y.shape.size());
    for (const Tensor& part : concatenation.parts) {
      const IntegerValue x = values_.InIntegers(part);
      const memory::desc there = whole.get_desc().submemory_desc(part.shape, begin);
      begin[1] += part.shape[1];
      values_.Rescale(values_.ToMemory(part, x), {there, values_.engine(), y.data}, x.scale,
                      y.scale);
    }
    ++counts_.int8;
  }

  void Take(const FusedStep& fused, const TracedConversion&) {
    const TracedStep& step = *fused.first;
    const IntegerValue* there = values_.Find(step.x.data);
    if (!there) return AsTraced(step);
    const IntegerValue x = *there;
    Reorder(values_.ToMemory(step.x, x),
            values_.ToMemory(step.y, values_.Make(step.y, x.type, x.scale)));
    ++counts_.int8;
  }

  void Take(const FusedStep& step, const TracedConvolution& convolution) {
    const ConvolutionSpec& spec = convolution.spec;
    const Tensor& out = step.y;
    const IntegerValue x = values_.InIntegers(step.first->x);
    IntegerValue y = values_.Make(out, step.relu);
    dnnl::post_ops post;
    if (const void* const data = step.residual()) {
      const Tensor residual = At(data, out);
      const IntegerValue there = values_.InIntegers(residual);
      post.append_sum(there.scale, 0, there.type);
      // Added to in place if it is not read later.
      if (step.first->x.data == data || ReadLater(data)) {
        Reorder(values_.ToMemory(residual, there),
                {IntegerValues::ToDesc(out, there.type), values_.engine(), y.data});
      } else {
        y.data = there.data;
        values_.Place(out, there.data);
      }
    }
    const memory::dims strides = {spec.stride, spec.stride};
    const memory::dims pad = {spec.pad_height, spec.pad_width};
    const dnnl::convolution_forward::primitive_desc desc(
        values_.engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
        IntegerValues::ToDesc(step.first->x, x.type), AnyWeights(spec.weight_shape()),
        DnnlDense({spec.out_channels}, ElementType::kF32), IntegerValues::ToDesc(out, y.type),
        strides, pad, pad, Attributes(post, step.relu));
    AddLayer<dnnl::convolution_forward>(desc, values_.ToMemory(step.first->x, x),
                                        values_.ToMemory(out, y), {x.scale, y.scale},
                                        Fold(convolution, step.norm), spec.weight_shape());
  }

  // Tells whether a later step reads it.
  bool ReadLater(const void* data) const {
    return std::any_of(steps_.begin() + next_, steps_.end(),
                       [&](const FusedStep& step) { return step.Reads(data); });
  }

  // For a layer: one scale for x and one for y, and one per output channel of the weights.
  static dnnl::primitive_attr Attributes(dnnl::post_ops post, bool relu) {
    if (relu) post.append_eltwise(dnnl::algorithm::eltwise_relu, 0, 0);
    dnnl::primitive_attr attributes;
    attributes.set_scales_mask(DNNL_ARG_SRC, 0);
    attributes.set_scales_mask(DNNL_ARG_WEIGHTS, 1);
    attributes.set_scales_mask(DNNL_ARG_DST, 0);
    attributes.set_post_ops(post);
    return attributes;
  }

  struct Scales {
    float x, y;
  };

  template <typename Layer, typename Desc>
  void AddLayer(const Desc& desc, const memory& x, const memory& y, const Scales& scales,
                const FoldedWeights& folded, const Shape& shape) {
    const IntegerWeights weights = ToIntegers(folded);
    const memory::dims dense = DnnlDense(shape, ElementType::kU8).get_strides();
    const memory plain({shape, DataType::s8, dense}, values_.engine());
    std::copy(weights.integers.begin(), weights.integers.end(),
              static_cast<int8_t*>(plain.get_data_handle()));
    const memory blocked(desc.weights_desc(), values_.engine());
    dnnl::reorder(plain, blocked)
        .execute(values_.stream(), {{DNNL_ARG_FROM, plain}, {DNNL_ARG_TO, blocked}});
    values_.Add(Layer(desc),
                {{DNNL_ARG_SRC, x},
                 {DNNL_ARG_WEIGHTS, blocked},
                 {DNNL_ARG_BIAS, values_.Floats(folded.bias)},
                 {DNNL_ARG_DST, y},
                 {DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, values_.Floats({scales.x})},
                 {DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, values_.Floats(weights.scales)},
                 {DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, values_.Floats({scales.y})}});
    ++counts_.int8;
  }

  void Reorder(const memory& from, const memory& to) {
    values_.Add(dnnl::reorder(from, to), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  }

  void AsTraced(const TracedStep& step) {
    if (step.x.data == trace_.input.data) {
      throw Error(ErrorKind::kUnsupported, "the network does not begin with a convolution", {},
                  "evaluate it in f32");
    }
    values_.InFloats(step.x);
    values_.Forget(step.y);
    values_.actions().push_back([run = step.run](const void*) { run(); });
    ++counts_.f32;
  }

  const Trace& trace_;
  const std::vector<FusedStep> steps_;
  IntegerValues values_;
  ptrdiff_t next_ = 0;  // index of the next step
  OperationCounts counts_;
};

}  // namespace

struct QuantisedNetwork::Program {
  std::vector<memory> buffers;
  Actions actions;
  OperationCounts counts;
};

QuantisedNetwork::QuantisedNetwork(const Trace& trace, const ActivationRanges& ranges) {
  program_ = WithDnnl("a network of integers", [&] {
    Lowering lowering(trace, ranges);
    lowering.Lower();
    return std::make_unique<Program>(Program{std::move(lowering.values().buffers()),
                                             std::move(lowering.values().actions()),
                                             lowering.counts()});
  });
}

QuantisedNetwork::~QuantisedNetwork() = default;

void QuantisedNetwork::Run(const void* input) const {
  for (const auto& action : program_->actions) action(input);
}

OperationCounts QuantisedNetwork::counts() const noexcept { return program_->counts; }

}  // namespace recpack::train
