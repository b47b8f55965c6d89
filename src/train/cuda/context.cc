#include "src/train/cuda/context.h"

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::train {
namespace {

int CheckedDevice(int device) {
  int devices = 0;
  Check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  if (device < 0 || device >= devices) {
    throw Error(ErrorKind::kDevice,
                format("there is no cuda:{}: this machine has {} CUDA devices", device, devices));
  }
  return device;
}

}  // namespace

CudaContext::CudaContext(const CudaOptions& options)
    : options_{CheckedDevice(options.device), options.tf32}, libraries_(LoadCudaLibraries()) {
  try {
    Check(cudaSetDevice(device()), "cudaSetDevice");
    Check(libraries_, libraries_.cublas.Create(&cublas_), "cublasLtCreate");
    first_.emplace(libraries_);
    second_.emplace(libraries_);
    side_.emplace(first_->stream(), second_->stream());
  } catch (...) {
    Release();
    throw;
  }
}

CudaContext::~CudaContext() { Release(); }

void CudaContext::Release() noexcept {
  cudaSetDevice(device());  // another thread may be destroying it
  side_.reset();
  second_.reset();
  first_.reset();
  if (cublas_) libraries_.cublas.Destroy(cublas_);
}

void CudaContext::SetCapturing(bool capturing) noexcept {
  capturing_ = capturing;
  first_->SetCapturing(capturing);
  second_->SetCapturing(capturing);
}

}  // namespace recpack::train
