// Owning wrapper of a CUDA event of the current device.
#pragma once

#include <cuda_runtime.h>

#include "src/train/cuda/runtime/errors.h"

namespace recpack::train {

class CudaEvent {
 public:
  explicit CudaEvent(unsigned flags = cudaEventDisableTiming) {
    Check(cudaEventCreateWithFlags(&event_, flags), "cudaEventCreateWithFlags");
  }
  ~CudaEvent() { cudaEventDestroy(event_); }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  cudaEvent_t get() const noexcept { return event_; }
  void Record(cudaStream_t stream) const {
    Check(cudaEventRecord(event_, stream), "cudaEventRecord");
  }
  // Makes later work on `stream` wait for the last Record().
  void HoldBack(cudaStream_t stream) const {
    Check(cudaStreamWaitEvent(stream, event_, 0), "cudaStreamWaitEvent");
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace recpack::train
