// Device interface for models: memory and the operations of layers. Each backend implements it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "recpack/device/runtime.h"
#include "src/train/ops/captured_work.h"
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
  int window_height = 0, window_width = 0;  // windows lie inside the image: no padding
  int stride = 1;
  ElementType type = ElementType::kF32;
  ImageLayout layout = ImageLayout::kNhwc;

  int64_t out_height() const { return (height - window_height) / stride + 1; }
  int64_t out_width() const { return (width - window_width) / stride + 1; }
  Shape out_shape() const { return {batch, channels, out_height(), out_width()}; }
};

class Pooling {
 public:
  virtual ~Pooling() = default;
  virtual void Forward(const void* x, void* y) = 0;
  // For the last Forward(). Among equal maxima, the first in the window gets the gradient.
  virtual void Backward(const void* dy, void* dx) = 0;
};

enum class Activation : uint8_t { kRelu, kTanh };

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

  Shape table_shape() const { return {vocabulary, dims}; }
  Shape out_shape() const { return {batch, dims, 1, length}; }
};

class Embedding {
 public:
  virtual ~Embedding() = default;
  // ids (batch, length). An id out of range gives the zero vector and is counted in
  // sums->bad_labels.
  virtual void Forward(const void* ids, const float* table, void* y, LossSums* sums) = 0;
  // Overwrites the gradient of the whole table. Deterministic.
  virtual void Backward(const void* ids, const void* dy, float* d_table) = 0;
};

// Factorisation machine of degree 2 (Rendle, "Factorization machines", 2010). For each sample
//   y = bias + <weights, x> + 1/2 * sum over f of ((sum_i factors[i][f] x_i)^2
//                                                  - sum_i factors[i][f]^2 x_i^2)
// where x is the concatenation of two arrays, (batch, first) and (batch, second).
struct FactorisationSpec {
  int64_t batch = 0, first = 0, second = 0, factors = 0;
  ElementType type = ElementType::kF32;  // of x and its gradient; y is f32

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

// The values of an update that change from step to step.
struct UpdateRates {
  float rate = 0;
  float corrected = 0;   // Adam: the rate divided by the first moment's bias correction
  float correction = 1;  // Adam: bias correction of the second moment
};

// velocity = momentum * velocity + gradient + decay * value; value -= rate * velocity. Equals
// PyTorch's SGD without dampening.
struct SgdUpdate {
  float rate = 0;
  float momentum = 0;
  float decay = 0;
  // In device memory; replaces `rate`, so that a captured update can use a new rate in each replay.
  const UpdateRates* rates = nullptr;
};

// Kingma and Ba, "Adam", 2015, Algorithm 1, with decoupled decay (Loshchilov and Hutter, 2019).
struct AdamUpdate {
  float rate = 0;
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float epsilon = 1e-8F;
  float decay = 0;
  int64_t step = 1;  // counted from 1
  // In device memory; replaces `rate` and `step`: ToRates() of an update with these values.
  const UpdateRates* rates = nullptr;
};

UpdateRates ToRates(const AdamUpdate& update);

class DeviceArray;
class ExchangeStream;  // src/train/ops/exchange_stream.h

// One logical device: its memory, and its stream or threads. Used by one thread at a time, the last
// one that called Attach(). Members throw Error: kDevice if the device fails or lacks memory,
// kUnsupported if the backend lacks an operation.
class Ops {
 public:
  virtual ~Ops() = default;

  virtual std::string Describe() const = 0;  // "CPU: oneDNN 3.2.0, 2 threads"
  // Returns whether its layers support activations of this type: on CPUs bf16 needs AVX-512 or
  // AVX-NE-CONVERT.
  virtual bool Computes(ElementType /*type*/) const { return true; }
  // Makes the calling thread the one that uses this device.
  virtual void Attach() = 0;
  // The stream that work is enqueued on. Null: calls are synchronous.
  virtual DeviceStream Stream() const noexcept { return nullptr; }

  // Allocates zeroed memory, aligned to 256 bytes.
  DeviceArray Allocate(size_t bytes);
  // `from` may change after the call returns.
  virtual void Upload(void* to, const void* from, size_t bytes) = 0;
  // Waits for the work enqueued before.
  virtual void Download(void* to, const void* from, size_t bytes) = 0;
  virtual void Copy(void* to, const void* from, size_t bytes) = 0;
  virtual void Zero(void* to, size_t bytes) = 0;
  virtual void Synchronise() = 0;
  // Copies from the memory of another device; both have a Stream(). Enqueued like Copy(), and
  // direct if the devices have peer access. The work that writes `from` must have finished.
  virtual void CopyFrom(Ops& other, void* to, const void* from, size_t bytes);
  // Makes a stream for exchanges with `marks` marks. Returns null if Stream() is null.
  virtual std::unique_ptr<ExchangeStream> MakeExchangeStream(size_t marks);

  // Records the operations that `work` enqueues, without running them, for repeated replay. `work`
  // must not wait or allocate, and its calls must have the same arguments each time: varying values
  // are read from device memory. On a synchronous backend `work` is called at each Replay() instead
  // of now. Throws what `work` throws, and Error (kUnsupported) for work that cannot be captured;
  // nothing was done then.
  virtual std::unique_ptr<CapturedWork> Capture(std::function<void()> work);
  // Tells, within `work`, whether it is being captured and runs later.
  virtual bool Capturing() const noexcept { return false; }
  // Runs `work`'s operations (weight gradients and updates) after everything enqueued so far,
  // possibly concurrently with what is enqueued after it, until Rejoin(). Work given to Beside()
  // runs in order.
  virtual void Beside(const std::function<void()>& work) { work(); }
  // Work enqueued from now on runs after all Beside() work.
  virtual void Rejoin() {}
  virtual std::unique_ptr<Readback> MakeReadback(size_t bytes);

  virtual std::unique_ptr<Convolution> MakeConvolution(const ConvolutionSpec& spec) = 0;
  virtual std::unique_ptr<Dense> MakeDense(const DenseSpec& spec) = 0;
  virtual std::unique_ptr<BatchNorm> MakeBatchNorm(const BatchNormSpec& spec) = 0;
  virtual std::unique_ptr<Pooling> MakePooling(const PoolingSpec& spec) = 0;

  // y may be x.
  virtual void Activate(Activation activation, const Tensor& x, const Tensor& y) = 0;
  // Computes from the output y. dx may be dy.
  virtual void ActivateBackward(Activation activation, const Tensor& y, const Tensor& dy,
                                const Tensor& dx) = 0;
  virtual void Add(const Tensor& x, const Tensor& to) = 0;  // to += x
  // Converts between f32 and bf16 and, in four dimensions, between layouts. The shapes are equal.
  virtual void Convert(const Tensor& from, const Tensor& to) = 0;

  // logits (batch, classes) f32, labels i64, mask u8 per sample or null. Writes the sums and, if
  // d_logits is not null, the gradient of scale * loss.
  virtual void SoftmaxCrossEntropy(const Tensor& logits, const int64_t* labels, const uint8_t* mask,
                                   float scale, float* d_logits, LossSums* sums) = 0;

  virtual void Sgd(const SgdUpdate& update, float* value, const float* gradient, float* velocity,
                   size_t count) = 0;
  virtual void Adam(const AdamUpdate& update, float* value, const float* gradient, float* first,
                    float* second, size_t count) = 0;

  // For models that read text and predict a number.
  virtual std::unique_ptr<Embedding> MakeEmbedding(const EmbeddingSpec& spec) = 0;
  virtual std::unique_ptr<Factorisation> MakeFactorisation(const FactorisationSpec& spec) = 0;
  // The sum of (prediction - target)^2; both f32, one per sample. Like SoftmaxCrossEntropy(), but
  // `correct` is 0 and bad_labels is unchanged.
  virtual void SquaredError(const Tensor& predictions, const float* targets, const uint8_t* mask,
                            float scale, float* d_predictions, LossSums* sums) = 0;

 private:
  friend class DeviceArray;
  virtual void* AllocateBytes(size_t bytes) = 0;
  virtual void FreeBytes(void* memory) noexcept = 0;
};

// Owns memory of a device. Move-only; must not outlive its Ops.
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(DeviceArray&& other) noexcept;
  DeviceArray& operator=(DeviceArray&& other) noexcept;
  ~DeviceArray();

  void* data() const noexcept { return data_; }
  template <typename T>
  T* As() const noexcept {
    return static_cast<T*>(data_);
  }

 private:
  friend class Ops;
  DeviceArray(Ops* ops, void* data) : ops_(ops), data_(data) {}
  Ops* ops_ = nullptr;
  void* data_ = nullptr;
};

}  // namespace recpack::train
