// Fallback for builds without the CUDA backend.
#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/cuda/cuda_ops.h"

namespace recpack::train {

std::unique_ptr<Ops> MakeCudaOps(const CudaOptions& options) {
  throw Error(
      ErrorKind::kUnsupported,
      format("cuda:{} cannot be trained on: this build has no CUDA backend", options.device), {},
      "build where CMake finds a CUDA compiler and cudnn.h, or choose cpu:0");
}

}  // namespace recpack::train
