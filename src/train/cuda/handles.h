// Streams and events of the current device, by value.
#pragma once

#include <cuda_runtime.h>

#include "src/train/cuda/errors.h"

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
  // What is enqueued on `stream` from here on begins once the event as last recorded is complete.
  void HoldBack(cudaStream_t stream) const {
    Check(cudaStreamWaitEvent(stream, event_, 0), "cudaStreamWaitEvent");
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace recpack::train
