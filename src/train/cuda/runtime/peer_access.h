// Peer access between GPUs.
#pragma once

#include <cuda_runtime.h>

#include <set>

#include "src/train/cuda/runtime/errors.h"

namespace recpack::train {

// Peers that one device has enabled. Not thread-safe.
class PeerAccess {
 public:
  // Enables direct access. `device`: the current one. Without peer access, the driver copies
  // through the host.
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
