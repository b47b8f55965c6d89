// Layers that models are put together of: an operation, its variables, and the activation it makes.
// Each is made in two steps: the constructor names its variables, Build() takes memory once all are
// known.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "src/train/ops/variables.h"

namespace recpack::train {

class Placement;

// What all layers of a model have in common.
struct ModelContext {
  Ops* ops = nullptr;
  // Of one model over several devices, where batches and losses are at `ops`, which is the first;
  // models that cannot be placed do not look at it. Null: all at `ops`.
  Placement* placement = nullptr;
  Variables* variables = nullptr;
  int64_t batch = 0;
  ValueType type = ValueType::kF32;  // of activations
  ImageLayout layout = ImageLayout::kNhwc;
  bool fused_norm = true;
  // Gradients of weights are computed beside those of inputs, until Ops::Rejoin(): strategies are
  // told of them within, and wait for them. Of models on one device.
  bool weights_beside = false;
  std::function<void(float* values, size_t count)> sum_over_devices = {};  // BatchNormSpec
  // Called in the forward pass of training before a variable is read: it may still be on its way.
  std::function<void(size_t variable)> need = [](size_t) {};
};

// An activation and its gradient.
struct Activations {
  Tensor value;
  Tensor gradient;
  DeviceArray value_memory, gradient_memory;

  void Allocate(const ModelContext& context, Shape shape, ValueType type);
};

// Called once a variable's gradient was enqueued, for Ops::Beside() or for what is behind
// Ops::Rejoin() to read it, and the backward pass reads the variable no more.
using GradientReady = std::function<void(size_t variable)>;

// Of square kernels, padded so that with stride 1 the picture keeps its size. `in`: its shape.
ConvolutionSpec ConvolutionOf(const ModelContext& context, const Shape& in, int64_t channels,
                              int kernel, int stride);

// Without bias, as before a BatchNorm, or with.
class ConvolutionLayer {
 public:
  ConvolutionLayer(const ModelContext& context, const std::string& name, ConvolutionSpec spec);
  void Build(const ModelContext& context);

  const ConvolutionSpec& spec() const noexcept { return spec_; }
  void Forward(const ModelContext& context, const void* x, bool training);
  // `dx`: null where it is not wanted.
  void Backward(const ModelContext& context, const void* x, void* dx, const GradientReady& ready);
  Activations& out() noexcept { return out_; }

 private:
  ConvolutionSpec spec_;
  size_t weight_ = 0, bias_ = 0;
  std::unique_ptr<Convolution> operation_;
  Activations out_;
};

class NormLayer {
 public:
  NormLayer(const ModelContext& context, const std::string& name, const Shape& shape, bool residual,
            bool relu);
  void Build(const ModelContext& context);

  void Forward(const ModelContext& context, const void* x, const void* residual, bool training);
  // Of out().gradient, plus dy_more where that is not null.
  void Backward(const ModelContext& context, const void* dy_more, const void* x, void* dx,
                void* d_residual, const GradientReady& ready);
  Activations& out() noexcept { return out_; }

 private:
  BatchNormVariables Pointers(const ModelContext& context) const;

  BatchNormSpec spec_;
  size_t scale_ = 0, shift_ = 0, mean_ = 0, variance_ = 0;
  std::unique_ptr<BatchNorm> operation_;
  Activations out_;
};

class DenseLayer {
 public:
  // `initial`: of the weights.
  DenseLayer(const ModelContext& context, const std::string& name, DenseSpec spec,
             Initial initial = Initial::kUniform);
  void Build(const ModelContext& context);

  void Forward(const ModelContext& context, const void* x, bool training);
  void Backward(const ModelContext& context, const void* x, void* dx, const GradientReady& ready);
  Activations& out() noexcept { return out_; }

 private:
  DenseSpec spec_;
  size_t weight_ = 0, bias_ = 0;
  std::unique_ptr<Dense> operation_;
  Activations out_;
};

class PoolingLayer {
 public:
  explicit PoolingLayer(PoolingSpec spec) : spec_(spec) {}
  void Build(const ModelContext& context);

  void Forward(const void* x) { operation_->Forward(x, out_.value.data); }
  void Backward(void* dx) { operation_->Backward(out_.gradient.data, dx); }
  Activations& out() noexcept { return out_; }

 private:
  PoolingSpec spec_;
  std::unique_ptr<Pooling> operation_;
  Activations out_;
};

}  // namespace recpack::train
