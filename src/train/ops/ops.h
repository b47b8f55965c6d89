// What models ask of a device: memory and the operations of their layers. A backend implements it;
// models do not know which.
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

// Weights, gradients and statistics are f32 wherever the activations are bf16. All pointers are
// into the device's memory. Operations are enqueued in order; what one call writes, later calls
// read.

// Two dimensions, as networks for pictures have them; over text, height and its kernel are 1.
// Cross-correlation, as everywhere in this field.
struct ConvolutionSpec {
  int64_t batch = 0, in_channels = 0, height = 0, width = 0, out_channels = 0;
  int kernel_height = 1, kernel_width = 1;
  int stride = 1;
  int pad_height = 0, pad_width = 0;  // on each side
  bool bias = false;
  ValueType type = ValueType::kF32;  // of activations and their gradients
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
  // Takes the weights for the calls that follow, until it is called again. `bias`: by output
  // channel, null without.
  virtual void SetWeights(const float* weights, const float* bias) = 0;
  virtual void Forward(const void* x, void* y) = 0;
  virtual void BackwardData(const void* dy, void* dx) = 0;
  // Overwrites the gradients.
  virtual void BackwardWeights(const void* x, const void* dy, float* d_weights, float* d_bias) = 0;
};

// y = x * transposed(weights) + bias: x (batch, in), weights (out, in), y (batch, out).
struct DenseSpec {
  int64_t batch = 0, in = 0, out = 0;
  ValueType type = ValueType::kF32;      // of x and its gradient
  ValueType out_type = ValueType::kF32;  // of y and its gradient
};

class Dense {
 public:
  virtual ~Dense() = default;
  virtual void SetWeights(const float* weights, const float* bias) = 0;
  virtual void Forward(const void* x, void* y) = 0;
  virtual void BackwardData(const void* dy, void* dx) = 0;
  virtual void BackwardWeights(const void* x, const void* dy, float* d_weights, float* d_bias) = 0;
};

// Over batch and pixels, by channel; then, where asked for, a residual is added and ReLU taken.
struct BatchNormSpec {
  int64_t batch = 0, channels = 0, height = 0, width = 0;
  bool residual = false;
  bool relu = false;
  bool fused = true;      // all in as few passes as it takes; off: an operation each
  float epsilon = 1e-5F;  // added to the variance
  float momentum = 0.1F;  // running = (1 - momentum) * running + momentum * batch's
  ValueType type = ValueType::kF32;
  ImageLayout layout = ImageLayout::kNhwc;
  // Adds up `count` values over all devices of a step, in place: statistics are then those of all
  // their samples. Null: of this device's.
  std::function<void(float* values, size_t count)> sum_over_devices = {};
};

// All by channel.
struct BatchNormVariables {
  const float* scale = nullptr;
  const float* shift = nullptr;
  float* running_mean = nullptr;
  float* running_variance = nullptr;  // of the unbiased variance, as PyTorch has it
};

class BatchNorm {
 public:
  virtual ~BatchNorm() = default;
  // With the batch's own statistics, which are kept for Backward() and move the running ones.
  virtual void Train(const BatchNormVariables& variables, const void* x, const void* residual,
                     void* y) = 0;
  // With the running statistics.
  virtual void Infer(const BatchNormVariables& variables, const void* x, const void* residual,
                     void* y) = 0;
  // Of Train(), whose x and y are still there. The gradient of y is dy, or dy + dy_more where that
  // is not null; dy and dy_more may be written to. d_residual (with a residual) may be dy.
  virtual void Backward(const BatchNormVariables& variables, void* dy, const void* dy_more,
                        const void* x, const void* y, void* dx, void* d_residual, float* d_scale,
                        float* d_shift) = 0;
};

enum class PoolingKind : uint8_t { kMax, kAverage };

struct PoolingSpec {
  PoolingKind kind = PoolingKind::kMax;
  int64_t batch = 0, channels = 0, height = 0, width = 0;
  int window_height = 0, window_width = 0;  // a window is inside of the picture: no padding
  int stride = 1;
  ValueType type = ValueType::kF32;
  ImageLayout layout = ImageLayout::kNhwc;

  int64_t out_height() const { return (height - window_height) / stride + 1; }
  int64_t out_width() const { return (width - window_width) / stride + 1; }
  Shape out_shape() const { return {batch, channels, out_height(), out_width()}; }
};

class Pooling {
 public:
  virtual ~Pooling() = default;
  virtual void Forward(const void* x, void* y) = 0;
  // Of the last Forward(). Equal maxima: the first of the window has the gradient.
  virtual void Backward(const void* dy, void* dx) = 0;
};

enum class Activation : uint8_t { kRelu, kTanh };

// Sums over a batch, on the device.
struct LossSums {
  float loss = 0;        // of samples whose mask is 1
  float correct = 0;     // samples whose largest logit is their label's (the first of equal ones)
  float samples = 0;     // whose mask is 1
  float bad_labels = 0;  // out of range: neither in the loss nor in the gradient; and tokens
};

// A vector for each token: rows of a table, as pictures of height 1 whose channels are the vector's
// values. Token 0 is padding: its vector is 0, whatever the table has there.
struct EmbeddingSpec {
  int64_t batch = 0, length = 0;  // of tokens
  int64_t vocabulary = 0, dims = 0;
  ValueType id_type = ValueType::kI64;  // or kI32
  ValueType type = ValueType::kF32;     // of y and its gradient
  ImageLayout layout = ImageLayout::kNhwc;

  Shape table_shape() const { return {vocabulary, dims}; }
  Shape out_shape() const { return {batch, dims, 1, length}; }
};

class Embedding {
 public:
  virtual ~Embedding() = default;
  // ids (batch, length). Ids out of range have the vector 0 and are added to sums->bad_labels.
  virtual void Forward(const void* ids, const float* table, void* y, LossSums* sums) = 0;
  // Overwrites the gradient of the whole table, with the same bits each time.
  virtual void Backward(const void* ids, const void* dy, float* d_table) = 0;
};

// Rendle, "Factorization machines", 2010, of degree 2: for each sample
// y = bias + <weights, x> + 1/2 * sum over f of ((sum_i factors[i][f] x_i)^2
//                                                - sum_i factors[i][f]^2 x_i^2)
// where x is two arrays behind each other: (batch, first) and (batch, second).
struct FactorisationSpec {
  int64_t batch = 0, first = 0, second = 0, factors = 0;
  ValueType type = ValueType::kF32;  // of x and its gradient; y is f32

  int64_t in() const { return first + second; }
};

template <typename T>
struct FactorisationArrays {
  T* bias = nullptr;     // one
  T* weights = nullptr;  // (in)
  T* factors = nullptr;  // (in, factors)
};

class Factorisation {
 public:
  virtual ~Factorisation() = default;
  virtual void Forward(const FactorisationArrays<const float>& variables, const void* first,
                       const void* second, float* y) = 0;
  // Of the last Forward(), whose variables and x are still there. Overwrites the gradients, with
  // the same bits each time.
  virtual void Backward(const FactorisationArrays<const float>& variables, const void* first,
                        const void* second, const float* dy, void* d_first, void* d_second,
                        const FactorisationArrays<float>& gradients) = 0;
};

// What of an update is other in each step.
struct UpdateRates {
  float rate = 0;
  float corrected = 0;   // Adam's, over the correction of its first moment
  float correction = 1;  // of Adam's second moment
};

// velocity = momentum * velocity + gradient + decay * value; value -= rate * velocity: PyTorch's
// SGD without dampening.
struct SgdUpdate {
  float rate = 0;
  float momentum = 0;
  float decay = 0;
  // In the device's memory, in place of `rate`, so that captured updates can have others each time.
  const UpdateRates* rates = nullptr;
};

// Kingma and Ba, "Adam", 2015, Algorithm 1, with decay decoupled (Loshchilov and Hutter, 2019).
struct AdamUpdate {
  float rate = 0;
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float epsilon = 1e-8F;
  float decay = 0;
  int64_t step = 1;  // counted from 1
  // In the device's memory, in place of `rate` and `step`: RatesOf() an update that has them.
  const UpdateRates* rates = nullptr;
};

UpdateRates RatesOf(const AdamUpdate& update);

class DeviceArray;
class ExchangeStream;  // src/train/ops/exchange_stream.h

// One logical device: its memory, its order of work, its threads or stream. Used by one thread at
// a time, which called Attach(). Throws Error: kDevice for what the device cannot do or hold,
// kUnsupported for what its backend does not do.
class Ops {
 public:
  virtual ~Ops() = default;

  virtual std::string Describe() const = 0;  // "CPU: oneDNN 3.2.0, 2 threads"
  // Makes the calling thread the one that uses it.
  virtual void Attach() = 0;
  // Where its work is enqueued; null: it is done when a call returns.
  virtual DeviceStream Stream() const noexcept { return nullptr; }

  // Aligned to 256, zeroed.
  DeviceArray Allocate(size_t bytes);
  // `from` may be changed once this returned.
  virtual void Upload(void* to, const void* from, size_t bytes) = 0;
  // Waits for what was enqueued before.
  virtual void Download(void* to, const void* from, size_t bytes) = 0;
  virtual void Copy(void* to, const void* from, size_t bytes) = 0;
  virtual void Zero(void* to, size_t bytes) = 0;
  virtual void Synchronise() = 0;
  // Copies from the memory of another device whose Stream() is not null either, without the host
  // where the two reach each other, enqueued as Copy() is; what is copied must be done.
  virtual void CopyFrom(Ops& other, void* to, const void* from, size_t bytes);
  // An order of work beside its own, with that many marks; null where Stream() is.
  virtual std::unique_ptr<ExchangeStream> MakeExchangeStream(size_t marks);

  // What `work` enqueues, to be enqueued again and again; now it is not done. It must neither wait
  // nor allocate, and calls it makes have the same arguments each time: what changes is in the
  // device's memory. `work` is called now, or at each Replay() where operations are done when their
  // call returns. Throws what it throws, and Error (kUnsupported) for what cannot be captured; then
  // nothing was done.
  virtual std::unique_ptr<CapturedWork> Capture(std::function<void()> work);
  // Within `work`: whether it is captured now, and done later.
  virtual bool Capturing() const noexcept { return false; }
  // What `work` enqueues, behind all that was, may be done beside what is enqueued after it, until
  // Rejoin(): gradients of weights and updates. Works beside are done in their order.
  virtual void Beside(const std::function<void()>& work) { work(); }
  // What is enqueued from here on sees them.
  virtual void Rejoin() {}
  virtual std::unique_ptr<Readback> MakeReadback(size_t bytes);

  virtual std::unique_ptr<Convolution> MakeConvolution(const ConvolutionSpec& spec) = 0;
  virtual std::unique_ptr<Dense> MakeDense(const DenseSpec& spec) = 0;
  virtual std::unique_ptr<BatchNorm> MakeBatchNorm(const BatchNormSpec& spec) = 0;
  virtual std::unique_ptr<Pooling> MakePooling(const PoolingSpec& spec) = 0;

  // y may be x.
  virtual void Activate(Activation activation, const Tensor& x, const Tensor& y) = 0;
  // From the result y. dx may be dy.
  virtual void ActivateBackward(Activation activation, const Tensor& y, const Tensor& dy,
                                const Tensor& dx) = 0;
  virtual void Add(const Tensor& x, const Tensor& to) = 0;  // to += x
  // Types f32 and bf16, and of four dimensions the layout; the shapes are equal.
  virtual void Convert(const Tensor& from, const Tensor& to) = 0;

  // logits (batch, classes) f32, labels i64, mask u8 by sample or null for all. Writes the sums,
  // and where d_logits is not null the gradient of scale * loss.
  virtual void SoftmaxCrossEntropy(const Tensor& logits, const int64_t* labels, const uint8_t* mask,
                                   float scale, float* d_logits, LossSums* sums) = 0;

  virtual void Sgd(const SgdUpdate& update, float* value, const float* gradient, float* velocity,
                   size_t count) = 0;
  virtual void Adam(const AdamUpdate& update, float* value, const float* gradient, float* first,
                    float* second, size_t count) = 0;

  // Of models that read text and predict a number.
  virtual std::unique_ptr<Embedding> MakeEmbedding(const EmbeddingSpec& spec) = 0;
  virtual std::unique_ptr<Factorisation> MakeFactorisation(const FactorisationSpec& spec) = 0;
  // The sum of (prediction - target)^2; both f32, one a sample. As SoftmaxCrossEntropy(), but
  // `correct` is 0, and bad_labels stays as it was.
  virtual void SquaredError(const Tensor& predictions, const float* targets, const uint8_t* mask,
                            float scale, float* d_predictions, LossSums* sums) = 0;

 private:
  friend class DeviceArray;
  virtual void* AllocateBytes(size_t bytes) = 0;
  virtual void FreeBytes(void* memory) noexcept = 0;
};

// Memory of a device. Move-only; not after its Ops.
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
