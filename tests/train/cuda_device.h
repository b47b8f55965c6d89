// Access to this machine's GPU.
#pragma once

#include <cuda_runtime.h>

#include <memory>

#include "src/train/cuda/cuda_ops.h"

namespace recpack::train {

// Null if there is none.
inline std::unique_ptr<Ops> CudaOpsIfThere(const CudaOptions& options) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return nullptr;
  return MakeCudaOps(options);
}

}  // namespace recpack::train
