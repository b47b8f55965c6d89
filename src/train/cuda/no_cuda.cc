// Fallback for builds without the CUDA backend.
#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/cuda/cuda_ops.h"
#include "src/train/cuda/gpu_links.h"

namespace recpack::train {

std::unique_ptr<Ops> MakeCudaOps(const CudaOptions& options) {
  throw Error(
      ErrorKind::kUnsupported,
      format("cuda:{} cannot be trained on: this build has no CUDA backend", options.device), {},
      "build where CMake finds a CUDA compiler and cudnn.h, or choose cpu:0");
}

GpuLink LinkBetween(int one, int) {
  throw Error(ErrorKind::kUnsupported,
              format("cuda:{} cannot be asked: this build has no CUDA backend", one));
}

}  // namespace recpack::train
