// An order of work of a logical device, with what its operations need there.
#pragma once

#include <vector>

#include "src/train/cuda/array.h"
#include "src/train/cuda/libraries.h"

namespace recpack::train {

// A stream, cuDNN on it, and memory for the insides of one operation at a time. Of the current
// device. Used by one thread.
class CudaLane {
 public:
  explicit CudaLane(const CudaLibraries& libraries);
  ~CudaLane();
  CudaLane(const CudaLane&) = delete;
  CudaLane& operator=(const CudaLane&) = delete;

  cudaStream_t stream() const noexcept { return stream_; }
  cudnnHandle_t cudnn() const noexcept { return cudnn_; }
  void* workspace() const noexcept { return workspace_.data(); }

  // To make the workspace larger waits for the stream, and is refused (kUnsupported) while that is
  // captured.
  void Reserve(size_t bytes);
  void SetCapturing(bool capturing) noexcept {
    capturing_ = capturing;
    captured_ = true;
  }

 private:
  void Release() noexcept;

  const CudaLibraries& libraries_;
  cudaStream_t stream_ = nullptr;
  cudnnHandle_t cudnn_ = nullptr;
  CudaArray workspace_;
  size_t workspace_bytes_ = 0;
  bool capturing_ = false, captured_ = false;
  std::vector<CudaArray> of_graphs_;  // earlier workspaces, which graphs have the addresses of
};

}  // namespace recpack::train
