// Stream of a logical device, with the cuDNN handle and workspace of its operations.
#pragma once

#include <vector>

#include "src/train/cuda/runtime/array.h"
#include "src/train/cuda/runtime/libraries.h"

namespace recpack::train {

// On the current device. Workspace for one operation at a time. Not thread-safe.
class CudaLane {
 public:
  explicit CudaLane(const CudaLibraries& libraries);
  ~CudaLane();
  CudaLane(const CudaLane&) = delete;
  CudaLane& operator=(const CudaLane&) = delete;

  cudaStream_t stream() const noexcept { return stream_; }
  cudnnHandle_t cudnn() const noexcept { return cudnn_; }
  void* workspace() const noexcept { return workspace_.data(); }

  // Grows the workspace if needed. Growing waits for the stream and throws Error (kUnsupported)
  // during a capture.
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
  std::vector<CudaArray> of_graphs_;  // earlier workspaces, whose addresses are in graphs
};

}  // namespace recpack::train
