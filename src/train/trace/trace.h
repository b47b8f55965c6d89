// Records the operations of a model's forward pass.
#pragma once

#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "src/train/ops/forwarding_ops.h"

namespace recpack::train {

// Pointers point to device memory and are valid as long as the traced model.
struct TracedConvolution {
  ConvolutionSpec spec;
  const float* weights = nullptr;
  const float* bias = nullptr;  // null: none
};
struct TracedNorm {
  BatchNormSpec spec;
  BatchNormVariables variables;
  const void* residual = nullptr;  // null: none
};
struct TracedPooling {
  PoolingSpec spec;
};
struct TracedDense {
  DenseSpec spec;
  const float* weights = nullptr;
  const float* bias = nullptr;
};
struct TracedActivation {
  Activation kind = Activation::kRelu;
};
struct TracedConversion {};
struct TracedConcatenation {
  std::vector<Tensor> parts;  // the step's x is the first
};

struct TracedStep {
  std::variant<TracedConvolution, TracedNorm, TracedPooling, TracedDense, TracedActivation,
               TracedConversion, TracedConcatenation>
      what;
  Tensor x, y;                // y.data may be x.data
  std::function<void()> run;  // runs the step again on the current x
};

// Operations in execution order. An output stays in memory until the next pass, unless a later
// operation changes it in place.
struct Trace {
  std::vector<TracedStep> steps;
  Tensor input;   // read by the first step
  Tensor logits;  // input of the loss
};

// Records operations during Record(). Models made with it must be destroyed before it.
class TraceOps final : public ForwardingOps {
 public:
  using ForwardingOps::ForwardingOps;

  // Records one forward pass in evaluation mode of a model that was made with this Ops. Throws
  // Error (kUnsupported) for operations that a trace does not support, and what the pass throws.
  Trace Record(const std::function<void()>& forward);

  std::unique_ptr<Convolution> MakeConvolution(const ConvolutionSpec& spec) override;
  std::unique_ptr<Dense> MakeDense(const DenseSpec& spec) override;
  std::unique_ptr<BatchNorm> MakeBatchNorm(const BatchNormSpec& spec) override;
  std::unique_ptr<Pooling> MakePooling(const PoolingSpec& spec) override;
  void Activate(Activation activation, const Tensor& x, const Tensor& y) override;
  void Add(const Tensor& x, const Tensor& to) override;
  void Concatenate(std::span<const Tensor> parts, const Tensor& whole) override;
  void Convert(const Tensor& from, const Tensor& to) override;
  void SoftmaxCrossEntropy(const Tensor& logits, const int64_t* labels, const uint8_t* mask,
                           float scale, float* d_logits, LossSums* sums) override;
  void SquaredError(const Tensor& predictions, const float* targets, const uint8_t* mask,
                    float scale, float* d_predictions, LossSums* sums) override;

  // Called by the operations it made.
  void Note(TracedStep step);

 private:
  Trace* trace_ = nullptr;  // set while recording
};

}  // namespace recpack::train
