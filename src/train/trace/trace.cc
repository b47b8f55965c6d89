#include "src/train/trace/trace.h"

#include <utility>

#include "recpack/base/error.h"

namespace recpack::train {
namespace {

[[noreturn]] void Unknown(const char* what) {
  throw Error(ErrorKind::kUnsupported, std::string("tracing does not support ") + what, {},
              "evaluate this model in f32");
}

void* Writable(const void* data) { return const_cast<void*>(data); }

Tensor InputTensor(const ConvolutionSpec& spec, const void* x) {
  return {Writable(x), spec.type, spec.in_shape(), spec.layout};
}
Tensor ResultTensor(const ConvolutionSpec& spec, void* y) {
  return {y, spec.type, spec.out_shape(), spec.layout};
}
Tensor InputTensor(const DenseSpec& spec, const void* x) {
  return {Writable(x), spec.type, {spec.batch, spec.in}};
}
Tensor ResultTensor(const DenseSpec& spec, void* y) {
  return {y, spec.out_type, {spec.batch, spec.out}};
}

// For Convolution and Dense, which have weights and a bias; records them as Traced.
template <typename Layer, typename Traced>
class NotingLayer final : public Layer {
 public:
  template <typename Spec>
  NotingLayer(TraceOps& ops, std::unique_ptr<Layer> inner, const Spec& spec)
      : ops_(ops), inner_(std::move(inner)), noted_{.spec = spec} {}

  void SetWeights(const float* weights, const float* bias) override {
    noted_.weights = weights;
    noted_.bias = bias;
    inner_->SetWeights(weights, bias);
  }
  void Forward(const void* x, void* y) override {
    inner_->Forward(x, y);
    ops_.Note({noted_, InputTensor(noted_.spec, x), ResultTensor(noted_.spec, y),
               [this, x, y] { inner_->Forward(x, y); }});
  }
  void BackwardData(const void* dy, void* dx) override { inner_->BackwardData(dy, dx); }
  void BackwardWeights(const void* x, const void* dy, float* d_weights, float* d_bias) override {
    inner_->BackwardWeights(x, dy, d_weights, d_bias);
  }

 private:
  TraceOps& ops_;
  std::unique_ptr<Layer> inner_;
  Traced noted_;
};
using NotingConvolution = NotingLayer<Convolution, TracedConvolution>;
using NotingDense = NotingLayer<Dense, TracedDense>;

class NotingNorm final : public BatchNorm {
 public:
  NotingNorm(TraceOps& ops, std::unique_ptr<BatchNorm> inner, const BatchNormSpec& spec)
      : ops_(ops), inner_(std::move(inner)), spec_(spec) {}

  void Train(const BatchNormVariables& variables, const void* x, const void* residual,
             void* y) override {
    inner_->Train(variables, x, residual, y);
  }
  void Infer(const BatchNormVariables& variables, const void* x, const void* residual,
             void* y) override {
    inner_->Infer(variables, x, residual, y);
    const Shape shape = {spec_.batch, spec_.channels, spec_.height, spec_.width};
    ops_.Note({TracedNorm{spec_, variables, residual},
               {Writable(x), spec_.type, shape, spec_.layout},
               {y, spec_.type, shape, spec_.layout},
               [this, variables, x, residual, y] { inner_->Infer(variables, x, residual, y); }});
  }
  void Backward(const BatchNormVariables& variables, void* dy, const void* dy_more, const void* x,
                const void* y, void* dx, void* d_residual, float* d_scale,
                float* d_shift) override {
    inner_->Backward(variables, dy, dy_more, x, y, dx, d_residual, d_scale, d_shift);
  }

 private:
  TraceOps& ops_;
  std::unique_ptr<BatchNorm> inner_;
  const BatchNormSpec spec_;
};

class NotingPooling final : public Pooling {
 public:
  NotingPooling(TraceOps& ops, std::unique_ptr<Pooling> inner, const PoolingSpec& spec)
      : ops_(ops), inner_(std::move(inner)), spec_(spec) {}

  void Forward(const void* x, void* y) override {
    inner_->Forward(x, y);
    const Shape shape = {spec_.batch, spec_.channels, spec_.height, spec_.width};
    ops_.Note({TracedPooling{spec_},
               {Writable(x), spec_.type, shape, spec_.layout},
               {y, spec_.type, spec_.out_shape(), spec_.layout},
               [this, x, y] { inner_->Forward(x, y); }});
  }
  void Backward(const void* dy, void* dx) override { inner_->Backward(dy, dx); }

 private:
  TraceOps& ops_;
  std::unique_ptr<Pooling> inner_;
  const PoolingSpec spec_;
};

}  // namespace

Trace TraceOps::Record(const std::function<void()>& forward) {
  Trace trace;
  trace_ = &trace;
  try {
    forward();
  } catch (...) {
    trace_ = nullptr;
    throw;
  }
  trace_ = nullptr;
  if (trace.steps.empty() || trace.logits.data == nullptr) Unknown("a pass without a loss");
  trace.input = trace.steps.front().x;
  return trace;
}

void TraceOps::Note(TracedStep step) {
  if (trace_) trace_->steps.push_back(std::move(step));
}

std::unique_ptr<Convolution> TraceOps::MakeConvolution(const ConvolutionSpec& spec) {
  return std::make_unique<NotingConvolution>(*this, inner().MakeConvolution(spec), spec);
}

std::unique_ptr<Dense> TraceOps::MakeDense(const DenseSpec& spec) {
  return std::make_unique<NotingDense>(*this, inner().MakeDense(spec), spec);
}

std::unique_ptr<BatchNorm> TraceOps::MakeBatchNorm(const BatchNormSpec& spec) {
  return std::make_unique<NotingNorm>(*this, inner().MakeBatchNorm(spec), spec);
}

std::unique_ptr<Pooling> TraceOps::MakePooling(const PoolingSpec& spec) {
  return std::make_unique<NotingPooling>(*this, inner().MakePooling(spec), spec);
}

void TraceOps::Activate(Activation activation, const Tensor& x, const Tensor& y) {
  inner().Activate(activation, x, y);
  Note({TracedActivation{activation}, x, y,
        [this, activation, x, y] { inner().Activate(activation, x, y); }});
}

void TraceOps::Add(const Tensor& x, const Tensor& to) {
  if (trace_) Unknown("additions");
  inner().Add(x, to);
}

void TraceOps::Concatenate(std::span<const Tensor> parts, const Tensor& whole) {
  inner().Concatenate(parts, whole);
  const TracedConcatenation noted{{parts.begin(), parts.end()}};
  Note({noted, parts[0], whole, [this, noted, whole] { inner().Concatenate(noted.parts, whole); }});
}

void TraceOps::Convert(const Tensor& from, const Tensor& to) {
  inner().Convert(from, to);
  Note({TracedConversion{}, from, to, [this, from, to] { inner().Convert(from, to); }});
}

void TraceOps::SoftmaxCrossEntropy(const Tensor& logits, const int64_t* labels, const uint8_t* mask,
                                   float scale, float* d_logits, LossSums* sums) {
  inner().SoftmaxCrossEntropy(logits, labels, mask, scale, d_logits, sums);
  if (trace_) trace_->logits = logits;
}

void TraceOps::SquaredError(const Tensor& predictions, const float* targets, const uint8_t* mask,
                            float scale, float* d_predictions, LossSums* sums) {
  if (trace_) Unknown("predictions of a number");
  inner().SquaredError(predictions, targets, mask, scale, d_predictions, sums);
}

}  // namespace recpack::train
