#include "src/train/cuda/cuda_ops.h"

#include <algorithm>

#include "src/base/format.h"
#include "src/train/cuda/context.h"
#include "src/train/cuda/kernels/kernels.h"
#include "src/train/cuda/runtime/peer_access.h"

namespace recpack::train {
namespace {

constexpr size_t kMostStored = 1024;  // bytes passed as kernel arguments

class CudaOps final : public Ops {
 public:
  explicit CudaOps(const CudaOptions& options) : context_(options) {}

  std::string Describe() const override {
    cudaDeviceProp properties;
    Check(cudaGetDeviceProperties(&properties, context_.device()), "cudaGetDeviceProperties");
    const size_t version = context_.libraries().cudnn.GetVersion();  // 90100 is 9.1.0
    return format("CUDA: {}, cuDNN {}.{}.{}{}", static_cast<const char*>(properties.name),
                  version / 10000, version / 100 % 100, version % 100,
                  context_.tf32() ? ", f32 by TF32" : "");
  }
  void Attach() override { Check(cudaSetDevice(context_.device()), "cudaSetDevice"); }
  DeviceStream Stream() const noexcept override { return context_.first_stream(); }

  void Upload(void* to, const void* from, size_t bytes) override {
    if (bytes <= kMostStored) return StoreFew(to, from, bytes);
    Copy(to, from, bytes, cudaMemcpyHostToDevice);
    Synchronise();  // pinned memory may still be read
  }
  void Download(void* to, const void* from, size_t bytes) override {
    Copy(to, from, bytes, cudaMemcpyDeviceToHost);
    Synchronise();
  }
  void Copy(void* to, const void* from, size_t bytes) override {
    Copy(to, from, bytes, cudaMemcpyDeviceToDevice);
  }
  void Zero(void* to, size_t bytes) override {
    if (bytes > 0) Check(cudaMemsetAsync(to, 0, bytes, stream()), "cudaMemsetAsync");
  }
  void Synchronise() override { Check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize"); }
  void CopyFrom(Ops& other, void* to, const void* from, size_t bytes) override {
    auto* const cuda = dynamic_cast<CudaOps*>(&other);
    if (cuda == nullptr) return Ops::CopyFrom(other, to, from, bytes);
    const int source = cuda->context_.device();
    if (source == context_.device()) return Copy(to, from, bytes);
    peers_.Reach(context_.device(), source);
    Check(cudaMemcpyPeerAsync(to, context_.device(), from, source, bytes, stream()),
          "cudaMemcpyPeerAsync");
  }
  std::unique_ptr<ExchangeStream> MakeExchangeStream(size_t marks) override {
    return MakeCudaExchangeStream(context_.device(), context_.side(), marks);
  }

  std::unique_ptr<CapturedWork> Capture(std::function<void()> work) override {
    return CaptureGraph(context_, work);
  }
  bool Capturing() const noexcept override { return context_.capturing(); }
  void Beside(const std::function<void()>& work) override { context_.side().Do(work); }
  void Rejoin() override { context_.side().Rejoin(); }
  std::unique_ptr<Readback> MakeReadback(size_t bytes) override {
    return MakeCudaReadback(context_, bytes);
  }

  std::unique_ptr<Convolution> MakeConvolution(const ConvolutionSpec& spec) override {
    return MakeCudaConvolution(context_, spec);
  }
  std::unique_ptr<Dense> MakeDense(const DenseSpec& spec) override {
    return MakeCudaDense(context_, spec);
  }
  std::unique_ptr<BatchNorm> MakeBatchNorm(const BatchNormSpec& spec) override {
    return MakeCudaBatchNorm(*this, context_, spec);
  }
  std::unique_ptr<Pooling> MakePooling(const PoolingSpec& spec) override {
    return MakeCudaPooling(context_, spec);
  }

  void Activate(Activation activation, const Tensor& x, const Tensor& y) override {
    LaunchActivate(activation, x.type, x.data, y.data, Count(x), stream());
  }
  void ActivateBackward(Activation activation, const Tensor& y, const Tensor& dy,
                        const Tensor& dx) override {
    LaunchActivateBackward(activation, y.type, y.data, dy.data, dx.data, Count(y), stream());
  }
  void Add(const Tensor& x, const Tensor& to) override {
    LaunchAdd(to.type, x.data, to.data, Count(to), stream());
  }
  void CopyRows(void* to, const void* from, const RowCopy& rows) override {
    if (rows.count == 0 || rows.bytes == 0) return;
    Check(cudaMemcpy2DAsync(to, rows.to_pitch, from, rows.from_pitch, rows.bytes, rows.count,
                            cudaMemcpyDeviceToDevice, stream()),
          "cudaMemcpy2DAsync");
  }
  void Convert(const Tensor& from, const Tensor& to) override { LaunchConvert(from, to, stream()); }

  void SoftmaxCrossEntropy(const Tensor& logits, const int64_t* labels, const uint8_t* mask,
                           float scale, float* d_logits, LossSums* sums) override {
    context_.Reserve(static_cast<size_t>(logits.shape[0]) * sizeof(LossSums));
    LaunchSoftmaxCrossEntropy(logits, labels, mask, scale, d_logits, context_.Workspace<LossSums>(),
                              sums, stream());
  }

  void Sgd(const SgdUpdate& update, float* value, const float* gradient, float* velocity,
           size_t count) override {
    LaunchSgd(update, value, gradient, velocity, count, stream());
  }
  void Adam(const AdamUpdate& update, float* value, const float* gradient, float* first,
            float* second, size_t count) override {
    LaunchAdam(update, value, gradient, first, second, count, stream());
  }

  std::unique_ptr<Embedding> MakeEmbedding(const EmbeddingSpec& spec) override {
    return MakeCudaEmbedding(context_, spec);
  }
  std::unique_ptr<Factorisation> MakeFactorisation(const FactorisationSpec& spec) override {
    return MakeCudaFactorisation(context_, spec);
  }
  void SquaredError(const Tensor& predictions, const float* targets, const uint8_t* mask,
                    float scale, float* d_predictions, LossSums* sums) override {
    context_.Reserve(static_cast<size_t>(predictions.elements()) * sizeof(LossSums));
    LaunchSquaredError(predictions, targets, mask, scale, d_predictions,
                       context_.Workspace<LossSums>(), sums, stream());
  }

 private:
  cudaStream_t stream() const noexcept { return context_.stream(); }
  static size_t Count(const Tensor& tensor) { return static_cast<size_t>(tensor.elements()); }

  void Copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    if (bytes > 0) Check(cudaMemcpyAsync(to, from, bytes, kind, stream()), "cudaMemcpyAsync");
  }

  void StoreFew(void* to, const void* from, size_t bytes) {
    FewBytes few{};
    for (size_t at = 0; at < bytes; at += sizeof few.of) {
      const size_t count = std::min(bytes - at, sizeof few.of);
      std::copy_n(static_cast<const uint8_t*>(from) + at, count, few.of);
      LaunchStore(static_cast<uint8_t*>(to) + at, few, count, stream());
    }
  }

  void* AllocateBytes(size_t bytes) override { return CudaAllocate(bytes); }
  void FreeBytes(void* memory) noexcept override { cudaFree(memory); }

  CudaContext context_;
  PeerAccess peers_;
};

}  // namespace

std::unique_ptr<Ops> MakeCudaOps(const CudaOptions& options) {
  return std::make_unique<CudaOps>(options);
}

}  // namespace recpack::train
