#include "src/train/cuda/context.h"

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack {
namespace {

constexpr size_t kBlasWorkspace = size_t{32} << 20;  // what cuBLAS recommends for Hopper
constexpr size_t kFirstWorkspace = size_t{1} << 20;

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
    Check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    Check(libraries_, libraries_.cudnn.Create(&cudnn_), "cudnnCreate");
    Check(libraries_, libraries_.cudnn.SetStream(cudnn_, stream_), "cudnnSetStream");
    Check(libraries_, libraries_.cublas.Create(&cublas_), "cublasCreate");
    // The stream first: to set it takes the workspace back. One of ours makes products the same
    // bits each time, and none is allocated while a graph is captured.
    Check(libraries_, libraries_.cublas.SetStream(cublas_, stream_), "cublasSetStream");
    blas_workspace_ = CudaArray(kBlasWorkspace);
    Check(libraries_,
          libraries_.cublas.SetWorkspace(cublas_, blas_workspace_.data(), kBlasWorkspace),
          "cublasSetWorkspace");
    Reserve(kFirstWorkspace);
  } catch (...) {
    Release();
    throw;
  }
}

CudaContext::~CudaContext() { Release(); }

void CudaContext::Release() noexcept {
  cudaSetDevice(device());  // the thread may not be the one that used it
  if (stream_) cudaStreamSynchronize(stream_);
  if (cublas_) libraries_.cublas.Destroy(cublas_);
  if (cudnn_) libraries_.cudnn.Destroy(cudnn_);
  if (stream_) cudaStreamDestroy(stream_);
}

void CudaContext::Reserve(size_t bytes) {
  if (bytes <= workspace_bytes_) return;
  if (capturing_) {
    throw Error(ErrorKind::kUnsupported,
                format("this work is no CUDA graph: it needs {} bytes of workspace, and {} were "
                       "taken when its operations were made",
                       bytes, workspace_bytes_));
  }
  if (captured_) of_graphs_.push_back(std::move(workspace_));
  // What runs may still read the one that goes; both may not fit.
  Check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  workspace_ = {};
  workspace_bytes_ = 0;
  workspace_ = CudaArray(bytes);
  workspace_bytes_ = bytes;
}

}  // namespace recpack
