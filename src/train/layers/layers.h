// Layers that models are built from: an operation, its variables and its output activation. A layer
// is made in two steps: the constructor declares its variables, and Build() allocates memory once
// all variables are declared.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "src/train/layers/variables.h"

namespace recpack::train {

class Placement;
struct WordVectors;  // src/train/words/word_vectors.h

// State shared by all layers of a model.
struct ModelContext {
  Ops* ops = nullptr;
  // For a model placed over several devices, whose batches and losses are on `ops`, the first
  // device. Null: everything is on `ops`.
  Placement* placement = nullptr;
  Variables* variables = nullptr;
  // Initial vectors of some tokens, for a model that has a table of them; null: none. Used by
  // Model::Build().
  const WordVectors* word_vectors = nullptr;
  int64_t batch = 0;
  ElementType type = ElementType::kF32;  // of activations
  ImageLayout layout = ImageLayout::kNhwc;
  bool fused_norm = true;
  // Weight gradients are computed beside input gradients, until Ops::Rejoin(); strategies are
  // notified within Ops::Beside() and wait for them. For models on one device.
  bool weights_beside = false;
  std::function<void(float* values, size_t count)> sum_over_devices = {};  // see BatchNormSpec
  // Called in training's forward pass before a variable is read, since the variable may still be in
  // transfer.
  std::function<void(size_t variable)> need = [](size_t) {};
};

// An activation and its gradient.
struct Activations {
  Tensor value;
  Tensor gradient;
  DeviceArray value_memory, gradient_memory;

  void Allocate(const ModelContext& context, Shape shape, ElementType type);
};

// Called once a variable's gradient is enqueued. Ops::Beside() work, or work after Ops::Rejoin(),
// may read the gradient. The backward pass no longer reads the variable.
using GradientReady = std::function<void(size_t variable)>;

// A square kernel with padding that keeps the image size at stride 1. `in`: input shape.
ConvolutionSpec SquareConvolution(const ModelContext& context, const Shape& in, int64_t channels,
                                  int kernel, int stride);

// A square window. `in`: input shape.
PoolingSpec SquarePooling(const ModelContext& context, const Shape& in, PoolingKind kind,
                          int window, int stride);

// The bias is optional; a convolution before a BatchNorm has none.
class ConvolutionLayer {
 public:
  ConvolutionLayer(const ModelContext& context, const std::string& name, ConvolutionSpec spec);
  void Build(const ModelContext& context);

  const ConvolutionSpec& spec() const noexcept { return spec_; }
  void Forward(const ModelContext& context, const void* x, bool training);
  // `dx`: null if not needed.
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
  // `epsilon`: added to the variance.
  NormLayer(const ModelContext& context, const std::string& name, const Shape& shape, bool residual,
            bool relu, float epsilon = BatchNormSpec().epsilon);
  void Build(const ModelContext& context);

  void Forward(const ModelContext& context, const void* x, const void* residual, bool training);
  // Reads out().gradient, plus dy_more if not null.
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
  // `initial`: for the weights.
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
