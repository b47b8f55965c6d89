// Operations of layers: their sizes and options, and the calls that each backend implements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "src/train/ops/tensor.h"

namespace recpack::train {

// Weights, gradients and statistics are always f32, also with bf16 activations. All pointers point
// to device memory. Operations are enqueued in order; a call sees the results of earlier calls.

// Two-dimensional convolution (cross-correlation). For text, the height and the kernel height are
// 1.
struct ConvolutionSpec {
  int64_t batch = 0, in_channels = 0, height = 0, width = 0, out_channels = 0;
  int kernel_height = 1, kernel_width = 1;
  int stride = 1;
  int pad_height = 0, pad_width = 0;  // on each side
  bool bias = false;
  ElementType type = ElementType::kF32;  // of activations and their gradients
  ImageLayout layout = ImageLayout::kNhwc;
  std::string name = {};  // of the layer, for traces

  int64_t out_height() const { return (height + 2 * pad_height - kernel_height) / stride + 1; }
  int64_t out_width() const { return (width + 2 * pad_width - kernel_width) / stride + 1; }
  Shape in_shape() const { return {batch, in_channels, height, width}; }
  Shape out_shape() const { return {batch, out_channels, out_height(), out_width()}; }
  Shape weight_shape() const { return {out_channels, in_channels, kernel_height, kernel_width}; }
};

class Convolution {
 public:
  virtual ~Convolution() = default;
  // Sets the weights for the following calls. `bias`: one value per output channel, or null.
  virtual void SetWeights(const float* weights, const float* bias) = 0;
  virtual void Forward(const void* x, void* y) = 0;
  virtual void BackwardData(const void* dy, void* dx) = 0;
  // Overwrites the gradients.
  virtual void BackwardWeights(const void* x, const void* dy, float* d_weights, float* d_bias) = 0;
};

// y = x * transpose(weights) + bias, with x (batch, in), weights (out, in), y (batch, out).
struct DenseSpec {
  int64_t batch = 0, in = 0, out = 0;
  ElementType type = ElementType::kF32;      // of x and its gradient
  ElementType out_type = ElementType::kF32;  // of y and its gradient
  std::string name = {};                     // of the layer, for traces
};

class Dense {
 public:
  virtual ~Dense() = default;
  virtual void SetWeights(const float* weights, const float* bias) = 0;
  virtual void Forward(const void* x, void* y) = 0;
  virtual void BackwardData(const void* dy, void* dx) = 0;
  virtual void BackwardWeights(const void* x, const void* dy, float* d_weights, float* d_bias) = 0;
};

// Normalises each channel over batch and pixels; then adds a residual and applies ReLU, if set.
struct BatchNormSpec {
  int64_t batch = 0, channels = 0, height = 0, width = 0;
  bool residual = false;
  bool relu = false;
  bool fused = true;      // in as few passes as possible; off: one operation at a time
  float epsilon = 1e-5F;  // added to the variance
  float momentum = 0.1F;  // running = (1 - momentum) * running + momentum * batch statistic
  ElementType type = ElementType::kF32;
  ImageLayout layout = ImageLayout::kNhwc;
  // Sums `count` values over all devices of a step, in place, so that statistics cover the samples
  // of all devices. Null: of this device only.
  std::function<void(float* values, size_t count)> sum_over_devices = {};
  std::string name = {};  // of the layer, for traces
};

// One value per channel.
struct BatchNormVariables {
  const float* scale = nullptr;
  const float* shift = nullptr;
  float* running_mean = nullptr;
  float* running_variance = nullptr;  // of the unbiased variance, as in PyTorch
};

class BatchNorm {
 public:
  virtual ~BatchNorm() = default;
  // Uses the batch's statistics, keeps them for Backward() and updates the running statistics.
  virtual void Train(const BatchNormVariables& variables, const void* x, const void* residual,
                     void* y) = 0;
  // Uses the running statistics.
  virtual void Infer(const BatchNormVariables& variables, const void* x, const void* residual,
                     void* y) = 0;
  // For the last Train(), whose x and y must be unchanged. The gradient of y is dy, plus dy_more if
  // not null; both may be overwritten. d_residual (with a residual) may be dy.
  virtual void Backward(const BatchNormVariables& variables, void* dy, const void* dy_more,
                        const void* x, const void* y, void* dx, void* d_residual, float* d_scale,
                        float* d_shift) = 0;
};

enum class PoolingKind : uint8_t { kMax, kAverage };

struct PoolingSpec {
  PoolingKind kind = PoolingKind::kMax;
  int64_t batch = 0, channels = 0, height = 0, width = 0;
  int window_height = 0, window_width = 0;
  int stride = 1;
  // Rows and columns added on each side, at most half a window; ignored by maxima and
  // averages.
  int pad = 0;
  // One more window if the last one does not reach the end: it begins within the image or the
  // padding before it, and what lies beyond is as padding (PyTorch's ceil_mode).
  bool round_up = false;
  ElementType type = ElementType::kF32;
  ImageLayout layout = ImageLayout::kNhwc;
  std::string name = {};  // of the layer, for traces

  int64_t out_height() const { return Windows(height, window_height); }
  int64_t out_width() const { return Windows(width, window_width); }
  // Rows and columns added behind.
  int64_t end_pad_height() const { return EndPad(height, window_height); }
  int64_t end_pad_width() const { return EndPad(width, window_width); }
  Shape out_shape() const { return {batch, channels, out_height(), out_width()}; }

 private:
  int64_t Windows(int64_t size, int window) const {
    const int64_t windows = (size + 2 * pad - window) / stride + 1;
    const bool more =
        round_up && (size + 2 * pad - window) % stride != 0 && windows * stride < size + pad;
    return windows + more;
  }
  int64_t EndPad(int64_t size, int window) const {
    const int64_t end = (Windows(size, window) - 1) * stride + window - size - pad;
    return end > pad ? end : pad;
  }
};

class Pooling {
 public:
  virtual ~Pooling() = default;
  virtual void Forward(const void* x, void* y) = 0;
  // For the last Forward(). Among equal maxima, the first in the window gets the gradient.
  virtual void Backward(const void* dy, void* dx) = 0;
};

// Sums over a batch, in device memory.
struct LossSums {
  float loss = 0;        // over samples whose mask is 1
  float correct = 0;     // samples whose largest logit (the first of equal ones) is at their label
  float samples = 0;     // number of samples whose mask is 1
  float bad_labels = 0;  // labels or tokens out of range; they add neither loss nor gradient
};

// Looks up a table row for each token. The output is an image of height 1 whose channels are the
// vector's values. Token 0 is padding: its vector is 0, whatever the table contains.
struct EmbeddingSpec {
  int64_t batch = 0, length = 0;  // length [tokens]
  int64_t vocabulary = 0, dims = 0;
  ElementType id_type = ElementType::kI64;  // or kI32
  ElementType type = ElementType::kF32;     // of y and its gradient
  ImageLayout layout = ImageLayout::kNhwc;
  std::string name = {};  // of the layer, for traces

  Shape table_shape() const { return {vocabulary, dims}; }
  Shape out_shape() const { return {batch, dims, 1, length}; }
};

class Embedding {
 public:
  virtual ~Embedding() = default;
  // ids (batch, length). An id out of range gives the zero vector and is counted in
  // sums->bad_labels.
  virtual void Forward(const void* ids, const float* table, void* y, LossSums* sums) = 0;
  // Overwrites the gradient of the whole table, or adds to it: after the first of several look-ups
  // in one table. Deterministic.
  virtual void Backward(const void* ids, const void* dy, float* d_table, bool add) = 0;
};

// Factorisation machine of degree 2 (Rendle, "Factorization machines", 2010). For each sample
//   y = bias + <weights, x> + 1/2 * sum over f of ((sum_i factors[i][f] x_i)^2
//                                                  - sum_i factors[i][f]^2 x_i^2)
// where x is the concatenation of two arrays, (batch, first) and (batch, second).
struct FactorisationSpec {
  int64_t batch = 0, first = 0, second = 0, factors = 0;
  ElementType type = ElementType::kF32;  // of x and its gradient; y is f32
  std::string name = {};                 // of the layer, for traces

  int64_t in() const { return first + second; }
};

template <typename T>
struct FactorisationArrays {
  T* bias = nullptr;     // one value
  T* weights = nullptr;  // (in)
  T* factors = nullptr;  // (in, factors)
};

class Factorisation {
 public:
  virtual ~Factorisation() = default;
  virtual void Forward(const FactorisationArrays<const float>& variables, const void* first,
                       const void* second, float* y) = 0;
  // For the last Forward(), whose variables and x must be unchanged. Overwrites the gradients.
  // Deterministic.
  virtual void Backward(const FactorisationArrays<const float>& variables, const void* first,
                        const void* second, const float* dy, void* d_first, void* d_second,
                        const FactorisationArrays<float>& gradients) = 0;
};

}  // namespace recpack::train
