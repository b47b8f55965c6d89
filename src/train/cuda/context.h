// What the operations of one CUDA device share.
#pragma once

#include <memory>
#include <optional>

#include "src/train/cuda/cuda_ops.h"
#include "src/train/cuda/lane.h"
#include "src/train/cuda/side_stream.h"

namespace recpack::train {

// Of one logical device; outlives its operations. Its device is made the thread's current one, and
// must be that in all calls.
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

  // The order of work that the device is known by, and a second one beside it.
  cudaStream_t first_stream() const noexcept { return first_->stream(); }
  SideStream& side() noexcept { return *side_; }

  // Where operations are enqueued now: the first, or within SideStream::Do() the second.
  cudaStream_t stream() const noexcept { return lane().stream(); }
  cudnnHandle_t cudnn() const noexcept { return lane().cudnn(); }
  // For the insides of one operation, whatever it is. Operations ask for theirs when they are made,
  // and for its place whenever they run.
  template <typename T>
  T* Workspace() const noexcept {
    return static_cast<T*>(lane().workspace());
  }

  // As CudaLane::Reserve(), of the first, or of operations that are done on either.
  void Reserve(size_t bytes) { first_->Reserve(bytes); }
  void ReserveOnEither(size_t bytes) {
    first_->Reserve(bytes);
    second_->Reserve(bytes);
  }
  // Between cudaStreamBeginCapture() of the first stream and cudaStreamEndCapture().
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

}  // namespace recpack::train
