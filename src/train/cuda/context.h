// State shared by the operations of one CUDA device, and the functions that make them.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "src/train/cuda/cuda_ops.h"
#include "src/train/cuda/runtime/lane.h"
#include "src/train/cuda/runtime/side_stream.h"
#include "src/train/ops/captured_work.h"
#include "src/train/ops/exchange_stream.h"

namespace recpack::train {

// One per logical device; must outlive its operations. Makes its GPU the thread's current device,
// which it must be in all calls.
class CudaContext {
 public:
  explicit CudaContext(const CudaOptions& options);
  ~CudaContext();
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  int device() const noexcept { return options_.device; }
  bool tf32() const noexcept { return options_.tf32; }
  const CudaLibraries& libraries() const noexcept { return libraries_; }
  cublasLtHandle_t cublas() const noexcept { return cublas_; }

  // The device's main stream, and a second one beside it.
  cudaStream_t first_stream() const noexcept { return first_->stream(); }
  SideStream& side() noexcept { return *side_; }

  // The stream to enqueue on now: the main one, or the second one within SideStream::Do().
  cudaStream_t stream() const noexcept { return lane().stream(); }
  cudnnHandle_t cudnn() const noexcept { return lane().cudnn(); }
  // Scratch memory of one operation at a time. Operations reserve it when they are made, and ask
  // for its address in each run.
  template <typename T>
  T* Workspace() const noexcept {
    return static_cast<T*>(lane().workspace());
  }

  // Like CudaLane::Reserve(): for operations on the main stream, or on either stream.
  void Reserve(size_t bytes) { first_->Reserve(bytes); }
  void ReserveOnEither(size_t bytes) {
    first_->Reserve(bytes);
    second_->Reserve(bytes);
  }
  // Set between cudaStreamBeginCapture() and cudaStreamEndCapture() of the main stream.
  void SetCapturing(bool capturing) noexcept;
  bool capturing() const noexcept { return capturing_; }

 private:
  const CudaLane& lane() const noexcept { return side_->doing() ? *second_ : *first_; }
  void Release() noexcept;

  const CudaOptions options_;
  const CudaLibraries& libraries_;
  cublasLtHandle_t cublas_ = nullptr;
  std::optional<CudaLane> first_, second_;
  std::optional<SideStream> side_;
  bool capturing_ = false;
};

std::unique_ptr<Convolution> MakeCudaConvolution(CudaContext& context, const ConvolutionSpec& spec);
std::unique_ptr<Dense> MakeCudaDense(CudaContext& context, const DenseSpec& spec);
std::unique_ptr<BatchNorm> MakeCudaBatchNorm(Ops& ops, CudaContext& context,
                                             const BatchNormSpec& spec);
std::unique_ptr<Pooling> MakeCudaPooling(CudaContext& context, const PoolingSpec& spec);
std::unique_ptr<Embedding> MakeCudaEmbedding(CudaContext& context, const EmbeddingSpec& spec);
std::unique_ptr<Factorisation> MakeCudaFactorisation(CudaContext& context,
                                                     const FactorisationSpec& spec);

// Captures what `work` enqueues on the context's stream, and on streams that wait for it and that
// it waits for in turn. Like Ops::Capture().
std::unique_ptr<CapturedWork> CaptureGraph(CudaContext& context, const std::function<void()>& work);

std::unique_ptr<Readback> MakeCudaReadback(const CudaContext& context, size_t bytes);

// `streams`: of the logical device on GPU number `device`; must outlive the result.
std::unique_ptr<ExchangeStream> MakeCudaExchangeStream(int device, SideStream& streams,
                                                       size_t marks);

}  // namespace recpack::train
