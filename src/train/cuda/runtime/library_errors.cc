#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/cuda/runtime/errors.h"
#include "src/train/cuda/runtime/libraries.h"

namespace recpack::train {

void Check(const CudaLibraries& libraries, cudnnStatus_t status, const char* call) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  if (status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED)
    Check(cudaErrorMemoryAllocation, call);
  char more[512] = "";
  libraries.cudnn.GetLastErrorString(more, sizeof more);
  throw Error(ErrorKind::kDevice, format("{}: {}{}{}", call, libraries.cudnn.GetErrorString(status),
                                         more[0] ? ": " : "", static_cast<const char*>(more)));
}

void Check(const CudaLibraries& libraries, cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  if (status == CUBLAS_STATUS_ALLOC_FAILED) Check(cudaErrorMemoryAllocation, call);
  throw Error(ErrorKind::kDevice, format("{}: {}", call, libraries.cublas.GetStatusString(status)));
}

}  // namespace recpack::train
