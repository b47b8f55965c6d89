#include "src/train/cpu/quantised_network.h"

#include <algorithm>
#include <utility>

#include "src/train/cpu/fold.h"
#include "src/train/cpu/integer_values.h"
#include "src/train/cpu/onednn.h"

namespace recpack {
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

bool Reads(const TracedStep& step, const void* data) {
  const auto* norm = std::get_if<TracedNorm>(&step.what);
  return step.x.data == data || (norm && norm->residual == data);
}

// Puts the network together, step by step.
class Lowering {
 public:
  Lowering(const Trace& trace, const ActivationRanges& ranges)
      : trace_(trace), values_(trace, ranges) {}

  void Lower() {
    while (next_ < trace_.steps.size()) {
      const TracedStep& step = trace_.steps[next_++];
      std::visit([&](const auto& what) { Take(step, what); }, step.what);
    }
    values_.InFloats(trace_.logits);
  }

  IntegerValues& values() noexcept { return values_; }
  OperationCounts counts() const noexcept { return counts_; }

 private:
  void Take(const TracedStep& step, const TracedConvolution& convolution) {
    if (NormOf(step)) return;  // it comes with that
    Convolve(step, convolution, nullptr, step.y, TakeRelu(step.y));
  }

  void Take(const TracedStep& step, const TracedNorm& norm) {
    for (const TracedStep& before : trace_.steps) {
      if (NormOf(before) != &step) continue;
      const auto& convolution = std::get<TracedConvolution>(before.what);
      return Convolve(before, convolution, &norm, step.y, norm.spec.relu);
    }
    if (norm.residual) values_.InFloats(At(norm.residual, step.y));
    AsTraced(step);
  }

  void Take(const TracedStep& step, const TracedPooling& pooling) {
    const IntegerValue* there = values_.Find(step.x.data);
    const PoolingSpec& spec = pooling.spec;
    if (spec.kind != PoolingKind::kMax || !there) return AsTraced(step);
    const IntegerValue x = *there;
    const IntegerValue y = values_.Make(step.y, x.type, x.scale);
    const memory::dims strides = {spec.stride, spec.stride}, none = {0, 0};
    const memory::dims window = {spec.window_height, spec.window_width};
    const dnnl::pooling_forward::primitive_desc desc(
        values_.engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::pooling_max,
        IntegerValues::DescOf(step.x, x.type), IntegerValues::DescOf(step.y, y.type), strides,
        window, none, none, none);
    values_.Add(dnnl::pooling_forward(desc), {{DNNL_ARG_SRC, values_.MemoryOf(step.x, x)},
                                              {DNNL_ARG_DST, values_.MemoryOf(step.y, y)}});
    ++counts_.int8;
  }

  void Take(const TracedStep& step, const TracedDense& dense) {
    if (step.y.data == trace_.logits.data) return AsTraced(step);
    const bool relu = TakeRelu(step.y);
    const IntegerValue x = values_.InIntegers(step.x), y = values_.Make(step.y, relu);
    const Shape shape = {dense.spec.out, dense.spec.in};
    const dnnl::inner_product_forward::primitive_desc desc(
        values_.engine(), dnnl::prop_kind::forward_inference, IntegerValues::DescOf(step.x, x.type),
        AnyWeights(shape), DnnlDense({dense.spec.out}, ValueType::kF32),
        IntegerValues::DescOf(step.y, y.type), Attributes({}, relu));
    AddLayer<dnnl::inner_product_forward>(desc, values_.MemoryOf(step.x, x),
                                          values_.MemoryOf(step.y, y), {x.scale, y.scale},
                                          Fold(dense), shape);
  }

  void Take(const TracedStep& step, const TracedActivation&) { AsTraced(step); }

  void Take(const TracedStep& step, const TracedConversion&) {
    const IntegerValue* there = values_.Find(step.x.data);
    if (!there) return AsTraced(step);
    const IntegerValue x = *there;
    Reorder(values_.MemoryOf(step.x, x),
            values_.MemoryOf(step.y, values_.Make(step.y, x.type, x.scale)));
    ++counts_.int8;
  }

  // The norm that alone reads what a convolution makes, or null.
  const TracedStep* NormOf(const TracedStep& convolution) const {
    if (!std::holds_alternative<TracedConvolution>(convolution.what)) return nullptr;
    const TracedStep* reader = nullptr;
    for (const TracedStep& step : trace_.steps) {
      if (!Reads(step, convolution.y.data)) continue;
      if (reader) return nullptr;
      reader = &step;
    }
    const auto* norm = reader ? std::get_if<TracedNorm>(&reader->what) : nullptr;
    return norm && norm->residual != convolution.y.data ? reader : nullptr;
  }

  // Whether the next step is ReLU of `y` in place, which is then taken with this one.
  bool TakeRelu(const Tensor& y) {
    if (next_ == trace_.steps.size()) return false;
    const TracedStep& step = trace_.steps[next_];
    const auto* activation = std::get_if<TracedActivation>(&step.what);
    if (!activation || activation->kind != Activation::kRelu || step.x.data != y.data ||
        step.y.data != y.data) {
      return false;
    }
    ++next_;
    return true;
  }

  void Convolve(const TracedStep& step, const TracedConvolution& convolution,
                const TracedNorm* norm, const Tensor& out, bool relu) {
    const ConvolutionSpec& spec = convolution.spec;
    const IntegerValue x = values_.InIntegers(step.x);
    IntegerValue y = values_.Make(out, relu);
    dnnl::post_ops post;
    if (norm && norm->residual) {
      const Tensor residual = At(norm->residual, out);
      const IntegerValue there = values_.InIntegers(residual);
      post.append_sum(there.scale, 0, there.type);
      // It is added to in place, where nobody reads it afterwards.
      if (step.x.data == norm->residual || ReadLater(norm->residual)) {
        Reorder(values_.MemoryOf(residual, there),
                {IntegerValues::DescOf(out, there.type), values_.engine(), y.data});
      } else {
        y.data = there.data;
        values_.Place(out, there.data);
      }
    }
    const memory::dims strides = {spec.stride, spec.stride};
    const memory::dims pad = {spec.pad_height, spec.pad_width};
    const dnnl::convolution_forward::primitive_desc desc(
        values_.engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
        IntegerValues::DescOf(step.x, x.type), AnyWeights(spec.weight_shape()),
        DnnlDense({spec.out_channels}, ValueType::kF32), IntegerValues::DescOf(out, y.type),
        strides, pad, pad, Attributes(post, relu));
    AddLayer<dnnl::convolution_forward>(desc, values_.MemoryOf(step.x, x), values_.MemoryOf(out, y),
                                        {x.scale, y.scale}, Fold(convolution, norm),
                                        spec.weight_shape());
  }

  // By a step that comes, or by a convolution before that waits for its norm.
  bool ReadLater(const void* data) const {
    const TracedStep* const next = trace_.steps.data() + next_;
    return std::any_of(trace_.steps.begin(), trace_.steps.end(), [&](const TracedStep& step) {
      const TracedStep* norm = NormOf(step);
      return Reads(step, data) && (norm ? norm : &step) >= next;
    });
  }

  // Of a layer: a scale for all of x and of y, one for each output channel of the weights.
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
    const memory::dims dense = DnnlDense(shape, ValueType::kU8).get_strides();
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
      throw Error(ErrorKind::kUnsupported, "the network begins with no convolution", {},
                  "evaluate it in f32");
    }
    values_.InFloats(step.x);
    values_.Forget(step.y);
    values_.actions().push_back([run = step.run](const void*) { run(); });
    ++counts_.f32;
  }

  const Trace& trace_;
  IntegerValues values_;
  size_t next_ = 0;  // step
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

}  // namespace recpack
