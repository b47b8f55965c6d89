// Fake of libcuda.so.1 that uses host memory and works synchronously. Each call reads
// FAKE_CUDA_DRIVER from the environment: "DEVICES", or "DEVICES FUNCTION" for a function that
// fails.
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

#include "src/ceiling/cuda_driver.h"

namespace {

using recpack::ceiling::CudaDriver;
using Result = CudaDriver::Result;
constexpr Result kOutOfMemory = 2;

Result Enter(const char* function) {
  const char* script = std::getenv("FAKE_CUDA_DRIVER");
  std::istringstream words(script == nullptr ? "" : script);
  std::string devices, failing;
  words >> devices >> failing;
  return failing == function ? kOutOfMemory : 0;
}

int Devices() {
  const char* script = std::getenv("FAKE_CUDA_DRIVER");
  return script == nullptr ? 0 : std::atoi(script);
}

template <typename T>
Result Give(const char* function, T* out) {
  if (const Result result = Enter(function); result != 0) return result;
  static int something;
  *out = reinterpret_cast<T>(&something);
  return 0;
}

}  // namespace

extern "C" {

Result cuInit(unsigned) { return Enter("cuInit"); }
Result cuDeviceGetCount(int* count) {
  *count = Devices();
  return Enter("cuDeviceGetCount");
}
Result cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal < Devices() ? Enter("cuDeviceGet") : kOutOfMemory;
}
Result cuGetErrorString(Result result, const char** text) {
  *text = result == kOutOfMemory ? "out of memory" : nullptr;
  return 0;
}
Result cuDevicePrimaryCtxRetain(CudaDriver::Context* context, int) {
  return Give("cuDevicePrimaryCtxRetain", context);
}
Result cuDevicePrimaryCtxRelease_v2(int) { return 0; }
Result cuCtxSetCurrent(CudaDriver::Context) { return Enter("cuCtxSetCurrent"); }
Result cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  if (const Result result = Enter("cuMemHostAlloc"); result != 0) return result;
  *memory = std::malloc(bytes);
  return 0;
}
Result cuMemFreeHost(void* memory) {
  std::free(memory);
  return 0;
}
Result cuMemAlloc_v2(CudaDriver::Memory* memory, size_t bytes) {
  if (const Result result = Enter("cuMemAlloc_v2"); result != 0) return result;
  *memory = reinterpret_cast<CudaDriver::Memory>(std::malloc(bytes));
  return 0;
}
Result cuMemFree_v2(CudaDriver::Memory memory) {
  std::free(reinterpret_cast<void*>(memory));
  return 0;
}
Result cuMemcpyHtoDAsync_v2(CudaDriver::Memory to, const void* from, size_t bytes,
                            CudaDriver::Stream) {
  if (const Result result = Enter("cuMemcpyHtoDAsync_v2"); result != 0) return result;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
Result cuStreamCreate(CudaDriver::Stream* stream, unsigned) {
  return Give("cuStreamCreate", stream);
}
Result cuStreamDestroy_v2(CudaDriver::Stream) { return 0; }
Result cuStreamSynchronize(CudaDriver::Stream) { return Enter("cuStreamSynchronize"); }
Result cuModuleLoadData(CudaDriver::Module* module, const void* text) {
  if (std::strstr(static_cast<const char*>(text), ".entry empty()") == nullptr) return kOutOfMemory;
  return Give("cuModuleLoadData", module);
}
Result cuModuleUnload(CudaDriver::Module) { return 0; }
Result cuModuleGetFunction(CudaDriver::Function* function, CudaDriver::Module, const char*) {
  return Give("cuModuleGetFunction", function);
}
Result cuLaunchKernel(CudaDriver::Function, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned, unsigned, CudaDriver::Stream, void**, void**) {
  return Enter("cuLaunchKernel");
}

}  // extern "C"
