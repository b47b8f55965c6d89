// Device runtime for CUDA. Runs on an emulation in CI; not yet run on a GPU.
#include <cuda_runtime.h>

#include <string>

#include "recpack/device/runtime.h"
#include "recpack/kernels/finish_cuda.h"
#include "src/base/format.h"
#include "src/device/errors.h"

namespace recpack {
namespace {

// Also clears the thread's last error, so that no later call reports it.
std::string DescribeError(cudaError_t error) {
  cudaGetLastError();
  return format("{} ({})", cudaGetErrorString(error), cudaGetErrorName(error));
}

void Check(cudaError_t error, const std::string& call, int device) {
  if (error != cudaSuccess) throw DeviceError(call, device, DescribeError(error));
}

// Sets the thread's current device, for calls that depend on it, and restores it.
class Current {
 public:
  explicit Current(int device) : before_(device) {
    Check(cudaGetDevice(&before_), "cudaGetDevice", device);
    if (before_ != device) Check(cudaSetDevice(device), "cudaSetDevice", device);
    changed_ = before_ != device;
  }
  ~Current() {
    if (changed_) cudaSetDevice(before_);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  int before_;
  bool changed_ = false;
};

class Cuda final : public DeviceRuntime {
 public:
  DeviceCount Count() override {
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess) return {0, "no CUDA device: " + DescribeError(error)};
    return {devices, devices == 0 ? "no CUDA device" : ""};
  }

  DeviceInfo Info(int device) override {
    cudaDeviceProp properties;
    Check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties", device);
    char bus[32] = "";
    Check(cudaDeviceGetPCIBusId(bus, sizeof bus, device), "cudaDeviceGetPCIBusId", device);
    return {properties.name, bus, properties.totalGlobalMem};
  }

  void* Allocate(int device, size_t bytes) override {
    const Current current(device);
    void* memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, bytes);
    if (error != cudaSuccess)
      throw DeviceMemoryError("cudaMalloc", device, bytes, DescribeError(error));
    return memory;
  }
  void Free(int, void* memory) noexcept override { cudaFree(memory); }

  void Pin(void* memory, size_t bytes) override {
    const cudaError_t error = cudaHostRegister(memory, bytes, cudaHostRegisterPortable);
    if (error != cudaSuccess) throw PinError("cudaHostRegister", bytes, DescribeError(error));
  }
  void Unpin(void* memory) noexcept override { cudaHostUnregister(memory); }

  DeviceStream CreateStream(int device) override {
    const Current current(device);
    DeviceStream stream = nullptr;
    Check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags",
          device);
    return stream;
  }
  void DestroyStream(int, DeviceStream stream) noexcept override { cudaStreamDestroy(stream); }

  DeviceEvent CreateEvent(int device) override {
    const Current current(device);
    DeviceEvent event = nullptr;
    const unsigned flags =
        cudaEventDisableTiming | cudaEventBlockingSync;  // waits without spinning
    Check(cudaEventCreateWithFlags(&event, flags), "cudaEventCreateWithFlags", device);
    return event;
  }
  void DestroyEvent(int, DeviceEvent event) noexcept override { cudaEventDestroy(event); }

  // The default stream belongs to the current device, here and below.
  void Record(int device, DeviceEvent event, DeviceStream stream) override {
    const Current current(device);
    Check(cudaEventRecord(event, stream), "cudaEventRecord", device);
  }
  void Wait(int device, DeviceStream stream, DeviceEvent event, WaitPoint point) override {
    const Current current(device);
    Check(cudaStreamWaitEvent(stream, event, 0), Call("cudaStreamWaitEvent", point), device);
  }
  void Synchronise(int device, DeviceEvent event, WaitPoint point) override {
    Check(cudaEventSynchronize(event), Call("cudaEventSynchronize", point), device);
  }
  void Drain(int device, DeviceStream stream, WaitPoint point) override {
    const Current current(device);
    Check(cudaStreamSynchronize(stream), Call("cudaStreamSynchronize", point), device);
  }

  void Copy(int device, void* to, const void* from, size_t bytes, DeviceStream stream) override {
    const Current current(device);
    Check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync",
          device);
  }
  void Finish(int device, const FinishOptions& options, const uint8_t* images,
              const FinishGeometry* geometry, int count, void* out, DeviceStream stream) override {
    const Current current(device);
    LaunchFinish(options, images, geometry, count, out, stream);
  }

 private:
  static std::string Call(const char* name, WaitPoint point) {
    return format("{} ({})", name, WaitPointName(point));
  }
};

}  // namespace

DeviceRuntime* LinkedRuntime() noexcept {
  static Cuda* const cuda = new Cuda;
  return cuda;
}

}  // namespace recpack
