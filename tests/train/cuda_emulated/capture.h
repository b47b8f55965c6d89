// Capture of streams into graphs.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <thread>
#include <vector>

#include "tests/train/cuda_emulated/streams.h"

struct CUgraph_st {
  std::vector<recpack::emulated::Node> nodes;
};
struct CUgraphExec_st {
  std::vector<recpack::emulated::Node> nodes;
  recpack::emulated::Token last;  // of the last launch: launches of one graph do not overlap
};

namespace recpack::emulated {

struct Capture {
  cudaStream_t origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  unsigned long long id = 0;
  bool invalid = false;
  std::vector<cudaStream_t> streams;
  std::vector<Node> nodes;
};
using CaptureOf = std::shared_ptr<Capture>;

// The captures in progress.
class Captures {
 public:
  cudaError_t Begin(cudaStream_t stream, cudaStreamCaptureMode mode);
  // Returns the nodes of a valid capture.
  cudaError_t End(cudaStream_t stream, std::vector<Node>* nodes);

  // Adds to the capture of a stream.
  cudaError_t Add(cudaStream_t stream, Node node);

  // A captured event or stream on either side, or both.
  cudaError_t Record(cudaEvent_t event, cudaStream_t stream);
  cudaError_t Wait(cudaStream_t stream, cudaEvent_t event);

  // Tells whether the calling thread must not make unsafe calls; if so, invalidates the capture
  // that forbids it.
  bool Forbid();
  // Sets the calling thread's mode and returns the previous one.
  cudaStreamCaptureMode ExchangeMode(cudaStreamCaptureMode mode);

  // Invalidates the stream's capture with this error.
  static cudaError_t Invalidate(cudaStream_t stream, cudaError_t error);

 private:
  std::vector<CaptureOf> captures_;
  unsigned long long last_id_ = 0;
};

}  // namespace recpack::emulated
