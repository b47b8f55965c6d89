// Device interface for models: memory and operations. Each backend implements it. layer_ops.h says
// what holds for pointers and calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "recpack/device/runtime.h"
#include "src/train/ops/captured_work.h"
#include "src/train/ops/layer_ops.h"
#include "src/train/ops/tensor.h"

namespace recpack::train {

enum class Activation : uint8_t { kRelu, kTanh };

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

// Rows of `bytes` bytes, which begin `to_pitch` bytes apart in the target and `from_pitch` in the
// source.
struct RowCopy {
  size_t count = 0, bytes = 0;
  size_t to_pitch = 0, from_pitch = 0;
};

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
  // Tells whether every operation is written to the event log by itself (RecordedOps).
  virtual bool RecordsOperations() const noexcept { return false; }

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
  // Writes the channels of `parts`, one after another, to `whole`. All have four dimensions, which
  // differ in the channels alone, and one type and layout.
  virtual void Concatenate(std::span<const Tensor> parts, const Tensor& whole);
  // The reverse.
  void Split(const Tensor& whole, std::span<const Tensor> parts);
  virtual void CopyRows(void* to, const void* from, const RowCopy& rows);
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
