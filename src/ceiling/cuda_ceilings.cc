#include "src/ceiling/cuda_ceilings.h"

#include <cstring>
#include <memory>
#include <utility>

#include "recpack/base/error.h"
#include "src/ceiling/cuda_driver.h"
#include "src/ceiling/timed.h"

namespace recpack::ceiling {
namespace {

constexpr size_t kCopy = size_t{16} << 20;
constexpr int kCopies = 4;  // between synchronisations
constexpr int kLaunches = 256;

constexpr char kEmptyKernel[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry empty() { ret; }\n";

int CountDevices(const CudaDriver& driver) {
  int count = 0;
  driver.Check("cuDeviceGetCount", driver.count(&count));
  if (count == 0) throw Error(ErrorKind::kDevice, "no device");
  return count;
}

// Context and stream of a GPU, current in the calling thread.
class Gpu {
 public:
  // Delegates, so that the destructor runs and cleans up if this constructor throws.
  Gpu(std::shared_ptr<const CudaDriver> driver, size_t thread) : Gpu(std::move(driver)) {
    const auto count = static_cast<size_t>(CountDevices(*driver_));
    driver_->Check("cuDeviceGet", driver_->device(&device_, static_cast<int>(thread % count)));
    CudaDriver::Context context = nullptr;
    driver_->Check("cuDevicePrimaryCtxRetain", driver_->retain(&context, device_));
    retained_ = true;
    driver_->Check("cuCtxSetCurrent", driver_->set_current(context));
    driver_->Check("cuStreamCreate", driver_->stream_create(&stream_, kNonBlocking));
  }
  ~Gpu() {
    if (stream_ != nullptr) driver_->stream_destroy(stream_);
    if (retained_) driver_->release(device_);
  }
  Gpu(const Gpu&) = delete;

  const CudaDriver& driver() const { return *driver_; }
  CudaDriver::Stream stream() const { return stream_; }
  void Wait() const { driver_->Check("cuStreamSynchronize", driver_->stream_synchronize(stream_)); }

 private:
  static constexpr unsigned kNonBlocking = 1;

  explicit Gpu(std::shared_ptr<const CudaDriver> driver) : driver_(std::move(driver)) {}

  std::shared_ptr<const CudaDriver> driver_;
  CudaDriver::Device device_ = 0;
  bool retained_ = false;
  CudaDriver::Stream stream_ = nullptr;
};

class Copier {
 public:
  Copier(const std::shared_ptr<const CudaDriver>& driver, size_t thread)
      : Copier(std::make_unique<Gpu>(driver, thread)) {
    const CudaDriver& cuda = gpu_->driver();
    cuda.Check("cuMemHostAlloc", cuda.host_alloc(&from_, kCopy, 0));
    std::memset(from_, 1, kCopy);
    cuda.Check("cuMemAlloc", cuda.alloc(&to_, kCopy));
  }
  ~Copier() {
    if (to_ != 0) gpu_->driver().free(to_);
    if (from_ != nullptr) gpu_->driver().host_free(from_);
  }
  Copier(const Copier&) = delete;

  double Copy() const {
    const CudaDriver& cuda = gpu_->driver();
    for (int i = 0; i < kCopies; ++i) {
      cuda.Check("cuMemcpyHtoDAsync", cuda.copy_to_device(to_, from_, kCopy, gpu_->stream()));
    }
    gpu_->Wait();
    return static_cast<double>(kCopies * kCopy);
  }

 private:
  explicit Copier(std::unique_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}

  std::unique_ptr<Gpu> gpu_;
  void* from_ = nullptr;
  CudaDriver::Memory to_ = 0;
};

class Launcher {
 public:
  Launcher(const std::shared_ptr<const CudaDriver>& driver, size_t thread)
      : Launcher(std::make_unique<Gpu>(driver, thread)) {
    const CudaDriver& cuda = gpu_->driver();
    cuda.Check("cuModuleLoadData", cuda.module_load(&module_, kEmptyKernel));
    cuda.Check("cuModuleGetFunction", cuda.module_function(&empty_, module_, "empty"));
  }
  ~Launcher() {
    if (module_ != nullptr) gpu_->driver().module_unload(module_);
  }
  Launcher(const Launcher&) = delete;

  double Launch() const {
    const CudaDriver& cuda = gpu_->driver();
    for (int i = 0; i < kLaunches; ++i) {
      cuda.Check("cuLaunchKernel",
                 cuda.launch(empty_, 1, 1, 1, 1, 1, 1, 0, gpu_->stream(), nullptr, nullptr));
    }
    gpu_->Wait();
    return kLaunches;
  }

 private:
  explicit Launcher(std::unique_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}

  std::unique_ptr<Gpu> gpu_;
  CudaDriver::Module module_ = nullptr;
  CudaDriver::Function empty_ = nullptr;
};

// Calls use(driver), or returns an unavailable rate with the reason.
template <typename Use>
Rate WithDriver(const std::string& library, Use use) {
  try {
    return use(std::make_shared<const CudaDriver>(library));
  } catch (const Error& error) {
    return {.unavailable = error.what()};
  }
}

}  // namespace

CudaDeviceCount CountCudaDevices(const std::string& library) {
  try {
    return {CountDevices(CudaDriver(library))};
  } catch (const Error& error) {
    return {0, error.what()};
  }
}

Rate PinnedCopyCeiling(const CeilingOptions& options, const std::string& library) {
  return WithDriver(library, [&](const auto& driver) {
    return Timed(options, [&](size_t thread) -> Work {
      const auto copier = std::make_shared<const Copier>(driver, thread);
      return [copier] { return copier->Copy(); };
    });
  });
}

Rate LaunchCeiling(const CeilingOptions& options, const std::string& library) {
  return WithDriver(library, [&](const auto& driver) {
    return Timed(options, [&](size_t thread) -> Work {
      const auto launcher = std::make_shared<const Launcher>(driver, thread);
      return [launcher] { return launcher->Launch(); };
    });
  });
}

}  // namespace recpack::ceiling
