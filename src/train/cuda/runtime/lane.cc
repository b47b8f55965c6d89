#include "src/train/cuda/runtime/lane.h"

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::train {
namespace {

constexpr size_t kFirstWorkspace = size_t{1} << 20;

}  // namespace

CudaLane::CudaLane(const CudaLibraries& libraries) : libraries_(libraries) {
  try {
    Check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    Check(libraries_, libraries_.cudnn.Create(&cudnn_), "cudnnCreate");
    Check(libraries_, libraries_.cudnn.SetStream(cudnn_, stream_), "cudnnSetStream");
    Reserve(kFirstWorkspace);
  } catch (...) {
    Release();
    throw;
  }
}

CudaLane::~CudaLane() { Release(); }

void CudaLane::Release() noexcept {
  if (stream_) cudaStreamSynchronize(stream_);
  if (cudnn_) libraries_.cudnn.Destroy(cudnn_);
  if (stream_) cudaStreamDestroy(stream_);
}

void CudaLane::Reserve(size_t bytes) {
  if (bytes <= workspace_bytes_) return;
  if (capturing_) {
    throw Error(
        ErrorKind::kUnsupported,
        format("this work cannot be a CUDA graph: it needs {} bytes of workspace, but {} were "
               "reserved when its operations were made",
               bytes, workspace_bytes_));
  }
  if (captured_) of_graphs_.push_back(std::move(workspace_));
  // Running work may still read the old workspace; there may not be memory for both.
  Check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  workspace_ = {};
  workspace_bytes_ = 0;
  workspace_ = CudaArray(bytes);
  workspace_bytes_ = bytes;
}

}  // namespace recpack::train
