// Records the operations of a model's forward pass.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <variant>
#include <vector>

#include "src/train/ops/ops.h"

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

struct TracedStep {
  std::variant<TracedConvolution, TracedNorm, TracedPooling, TracedDense, TracedActivation,
               TracedConversion>
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

// Forwards all calls to another Ops and records them during Record(). Models made with it must be
// destroyed before it.
class TraceOps final : public Ops {
 public:
  explicit TraceOps(std::unique_ptr<Ops> ops) : inner_(std::move(ops)) {}

  // Records one forward pass in evaluation mode of a model that was made with this Ops. Throws
  // Error (kUnsupported) for operations that a trace does not support, and what the pass throws.
  Trace Record(const std::function<void()>& forward);

  std::string Describe() const override { return inner_->Describe(); }
  void Attach() override { inner_->Attach(); }
  DeviceStream Stream() const noexcept override { return inner_->Stream(); }
  void Upload(void* to, const void* from, size_t bytes) override {
    inner_->Upload(to, from, bytes);
  }
  void Download(void* to, const void* from, size_t bytes) override {
    inner_->Download(to, from, bytes);
  }
  void Copy(void* to, const void* from, size_t bytes) override { inner_->Copy(to, from, bytes); }
  void Zero(void* to, size_t bytes) override { inner_->Zero(to, bytes); }
  void Synchronise() override { inner_->Synchronise(); }

  std::unique_ptr<Convolution> MakeConvolution(const ConvolutionSpec& spec) override;
  std::unique_ptr<Dense> MakeDense(const DenseSpec& spec) override;
  std::unique_ptr<BatchNorm> MakeBatchNorm(const BatchNormSpec& spec) override;
  std::unique_ptr<Pooling> MakePooling(const PoolingSpec& spec) override;
  void Activate(Activation activation, const Tensor& x, const Tensor& y) override;
  void ActivateBackward(Activation activation, const Tensor& y, const Tensor& dy,
                        const Tensor& dx) override {
    inner_->ActivateBackward(activation, y, dy, dx);
  }
  void Add(const Tensor& x, const Tensor& to) override;
  void Convert(const Tensor& from, const Tensor& to) override;
  void SoftmaxCrossEntropy(const Tensor& logits, const int64_t* labels, const uint8_t* mask,
                           float scale, float* d_logits, LossSums* sums) override;
  void Sgd(const SgdUpdate& update, float* value, const float* gradient, float* velocity,
           size_t count) override {
    inner_->Sgd(update, value, gradient, velocity, count);
  }
  void Adam(const AdamUpdate& update, float* value, const float* gradient, float* first,
            float* second, size_t count) override {
    inner_->Adam(update, value, gradient, first, second, count);
  }
  std::unique_ptr<Embedding> MakeEmbedding(const EmbeddingSpec& spec) override {
    return inner_->MakeEmbedding(spec);
  }
  std::unique_ptr<Factorisation> MakeFactorisation(const FactorisationSpec& spec) override {
    return inner_->MakeFactorisation(spec);
  }
  void SquaredError(const Tensor& predictions, const float* targets, const uint8_t* mask,
                    float scale, float* d_predictions, LossSums* sums) override;

  // Called by the operations it made.
  void Note(TracedStep step);

 private:
  void* AllocateBytes(size_t bytes) override;
  void FreeBytes(void* memory) noexcept override { memory_.erase(memory); }

  std::unique_ptr<Ops> inner_;
  std::map<void*, DeviceArray> memory_;
  Trace* trace_ = nullptr;  // set while recording
};

}  // namespace recpack::train
