#include "src/ceiling/cuda_driver.h"

#include "recpack/base/error.h"
#include "src/base/format.h"

namespace recpack::ceiling {

CudaDriver::CudaDriver(const std::string& name)
    : library(name, "",
              "install the NVIDIA driver; in a container, start it with its GPUs (docker: --gpus "
              "all)") {
  library.Find(init, "cuInit");
  library.Find(count, "cuDeviceGetCount");
  library.Find(device, "cuDeviceGet");
  library.Find(error_string, "cuGetErrorString");
  library.Find(retain, "cuDevicePrimaryCtxRetain");
  library.Find(release, "cuDevicePrimaryCtxRelease_v2");
  library.Find(set_current, "cuCtxSetCurrent");
  library.Find(host_alloc, "cuMemHostAlloc");
  library.Find(host_free, "cuMemFreeHost");
  library.Find(alloc, "cuMemAlloc_v2");
  library.Find(free, "cuMemFree_v2");
  library.Find(copy_to_device, "cuMemcpyHtoDAsync_v2");
  library.Find(stream_create, "cuStreamCreate");
  library.Find(stream_destroy, "cuStreamDestroy_v2");
  library.Find(stream_synchronize, "cuStreamSynchronize");
  library.Find(module_load, "cuModuleLoadData");
  library.Find(module_unload, "cuModuleUnload");
  library.Find(module_function, "cuModuleGetFunction");
  library.Find(launch, "cuLaunchKernel");
  Check("cuInit", init(0));
}

void CudaDriver::Check(const char* call, Result result) const {
  if (result == 0) return;
  const char* text = nullptr;
  if (error_string(result, &text) != 0 || text == nullptr) text = "failed";
  throw Error(ErrorKind::kDevice, format("{}: {} (CUDA error {})", call, text, result));
}

}  // namespace recpack::ceiling
