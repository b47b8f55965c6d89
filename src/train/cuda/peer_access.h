// GPUs that reach each other's memory.
#pragma once

#include <cuda_runtime.h>

#include <set>

#include "src/train/cuda/errors.h"

namespace recpack::train {

// What one device was let reach so far. Used by one thread.
class PeerAccess {
 public:
  // `device`: the current one. Where it cannot reach the other, the driver brings copies between
  // them through the host.
  void Reach(int device, int other) {
    if (device == other || !known_.insert(other).second) return;
    int reaches = 0;
    Check(cudaDeviceCanAccessPeer(&reaches, device, other), "cudaDeviceCanAccessPeer");
    if (!reaches) return;
    const cudaError_t error = cudaDeviceEnablePeerAccess(other, 0);
    if (error == cudaErrorPeerAccessAlreadyEnabled) {
      cudaGetLastError();
    } else {
      Check(error, "cudaDeviceEnablePeerAccess");
    }
  }

 private:
  std::set<int> known_;
};

}  // namespace recpack::train
