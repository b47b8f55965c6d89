// What the operations of one CUDA device share.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <utility>
#include <vector>

#include "recpack/train/cuda_ops.h"
#include "src/train/cuda/errors.h"
#include "src/train/cuda/libraries.h"

namespace recpack {

// Memory of the current device, not zeroed. Move-only; freeing waits for what runs there.
class CudaArray {
 public:
  CudaArray() = default;
  explicit CudaArray(size_t bytes) : data_(CudaAllocate(bytes)) {}
  CudaArray(CudaArray&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  CudaArray& operator=(CudaArray&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~CudaArray() { cudaFree(data_); }

  void* data() const noexcept { return data_; }
  template <typename T>
  T* As() const noexcept {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
};

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
  cudaStream_t stream() const noexcept { return stream_; }
  cudnnHandle_t cudnn() const noexcept { return cudnn_; }
  cublasHandle_t cublas() const noexcept { return cublas_; }
  const CudaLibraries& libraries() const noexcept { return libraries_; }

  // Memory for the insides of one operation, whatever it is: what the stream runs is in order.
  // Operations ask for theirs when they are made, and for its place whenever they run. To make it
  // larger waits for the stream, and is refused (kUnsupported) while that is captured.
  void Reserve(size_t bytes);
  // Between cudaStreamBeginCapture() and cudaStreamEndCapture().
  void SetCapturing(bool capturing) noexcept {
    capturing_ = capturing;
    captured_ = true;
  }
  template <typename T>
  T* Workspace() const noexcept {
    return workspace_.As<T>();
  }

 private:
  void Release() noexcept;

  const CudaOptions options_;
  const CudaLibraries& libraries_;
  cudaStream_t stream_ = nullptr;
  cudnnHandle_t cudnn_ = nullptr;
  cublasHandle_t cublas_ = nullptr;
  CudaArray blas_workspace_, workspace_;
  size_t workspace_bytes_ = 0;
  bool capturing_ = false, captured_ = false;
  std::vector<CudaArray> of_graphs_;  // earlier workspaces, which graphs have the addresses of
};

std::unique_ptr<Convolution> MakeCudaConvolution(CudaContext& context, const ConvolutionSpec& spec);
std::unique_ptr<Dense> MakeCudaDense(CudaContext& context, const DenseSpec& spec);
std::unique_ptr<BatchNorm> MakeCudaBatchNorm(Ops& ops, CudaContext& context,
                                             const BatchNormSpec& spec);
std::unique_ptr<Pooling> MakeCudaPooling(CudaContext& context, const PoolingSpec& spec);
std::unique_ptr<Embedding> MakeCudaEmbedding(CudaContext& context, const EmbeddingSpec& spec);
std::unique_ptr<Factorisation> MakeCudaFactorisation(CudaContext& context,
                                                     const FactorisationSpec& spec);

}  // namespace recpack
