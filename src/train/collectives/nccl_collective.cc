// Compiled, not yet run on a GPU.
#include "recpack/train/nccl_collective.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/collectives/collective_failure.h"
#include "src/train/collectives/nccl_library.h"
#include "src/train/collectives/nccl_place.h"

namespace recpack {
namespace {

constexpr auto kWatch = std::chrono::milliseconds(100);  // between looks for failures
constexpr auto kPoll = std::chrono::microseconds(200);   // while NCCL is at something
constexpr auto kGoodbye = std::chrono::seconds(10);

Error DeviceFailure(const std::string& call, int device, const std::string& text) {
  return {ErrorKind::kDevice, format("{} on device {}: {}", call, device, text)};
}

void CheckCuda(cudaError_t error, const char* call, int device) {
  if (error == cudaSuccess) return;
  cudaGetLastError();
  throw DeviceFailure(call, device,
                      format("{} ({})", cudaGetErrorString(error), cudaGetErrorName(error)));
}

// NCCL goes by the thread's current device.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    CheckCuda(cudaGetDevice(&before_), "cudaGetDevice", device);
    CheckCuda(cudaSetDevice(device), "cudaSetDevice", device);
  }
  ~CurrentDevice() { cudaSetDevice(before_); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
};

GpuPlace PlaceOf(int device) {
  char bus[32] = "";
  CheckCuda(cudaDeviceGetPCIBusId(bus, sizeof bus, device), "cudaDeviceGetPCIBusId", device);
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  const std::string text = format("{} {}", boot, bus);
  GpuPlace place = {};
  std::copy_n(text.data(), std::min(text.size(), place.size() - 1), place.data());
  return place;
}

class OverNccl final : public Collective {
 public:
  OverNccl(std::shared_ptr<Collective> host, int device, const CollectiveOptions& options)
      : Collective(host->rank(), host->size()),
        host_(std::move(host)),
        device_(device),
        options_(options),
        nccl_(Nccl()) {
    try {
      Join();
    } catch (const Error& error) {
      host_->Abort(error.what());
      if (communicator_ != nullptr) nccl_.CommAbort(communicator_);
      throw;
    }
    watcher_ = std::jthread([this](const std::stop_token& stop) { Watch(stop); });
  }

  ~OverNccl() override {
    watcher_.request_stop();
    watcher_.join();
    if (communicator_ == nullptr) return;
    // Others end too, or have failed: this rank does not wait for them for ever.
    nccl_.CommFinalize(communicator_);
    const auto deadline = std::chrono::steady_clock::now() + kGoodbye;
    while (State() == ncclInProgress && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(kPoll);
    }
    if (State() == ncclSuccess) {
      nccl_.CommDestroy(communicator_);
    } else {
      nccl_.CommAbort(communicator_);
    }
  }

  int device() const noexcept override { return device_; }
  Collective& host() noexcept override { return *host_; }

  void Abort(const std::string& reason) noexcept override {
    host_->Abort(reason);
    Break(AbortError(rank(), reason));
  }

  void Check() override {
    host_->Check();
    const std::lock_guard lock(mutex_);
    ThrowIfFailed();
  }

 private:
  void Join() {
    if (!nccl_.failure.empty()) throw Error(ErrorKind::kUnsupported, nccl_.failure);
    const CurrentDevice current(device_);
    const GpuPlace mine = PlaceOf(device_);
    std::vector<GpuPlace> places(static_cast<size_t>(size()));
    host_->AllGather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(places)));
    CheckThatPlacesDiffer(places);

    ncclUniqueId id = {};
    if (rank() == 0) CheckNccl(nccl_.GetUniqueId(&id), "ncclGetUniqueId");
    host_->Broadcast(std::as_writable_bytes(std::span(&id, 1)), 0);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;  // so that a rank which never comes can be given up
    CheckNccl(nccl_.CommInitRankConfig(&communicator_, size(), id, rank(), &config),
              "ncclCommInitRankConfig");
    AwaitReady("ncclCommInitRankConfig", options_.connect_timeout);
  }

  void Run(const CollectiveCall& call, DeviceStream stream) override {
    if (call.op == CollectiveOp::kBarrier) return host_->Barrier();
    if (call.count == 0) return;
    const CurrentDevice current(device_);
    const std::lock_guard lock(mutex_);
    ThrowIfFailed();
    const std::string name = CallText(call);
    CheckNccl(Enqueue(call, stream), name);
    AwaitReady(name, options_.timeout);
  }

  ncclResult_t Enqueue(const CollectiveCall& call, DeviceStream stream) {
    switch (call.op) {
      case CollectiveOp::kAllReduce:
        return nccl_.AllReduce(call.in, call.out, call.count, ncclFloat32, ncclSum, communicator_,
                               stream);
      case CollectiveOp::kReduce:
        return nccl_.Reduce(call.in, call.out, call.count, ncclFloat32, ncclSum, call.root,
                            communicator_, stream);
      case CollectiveOp::kReduceScatter:
        return nccl_.ReduceScatter(call.in, call.out, call.count, ncclFloat32, ncclSum,
                                   communicator_, stream);
      case CollectiveOp::kBroadcast:
        return nccl_.Broadcast(call.in, call.out, call.count, ncclUint8, call.root, communicator_,
                               stream);
      case CollectiveOp::kAllGather:
        return nccl_.AllGather(call.in, call.out, call.count, ncclUint8, communicator_, stream);
      case CollectiveOp::kBarrier:
        break;
    }
    return ncclInvalidArgument;
  }

  ncclResult_t State() const {
    ncclResult_t state = ncclSuccess;
    const ncclResult_t asked = nccl_.CommGetAsyncError(communicator_, &state);
    return asked == ncclSuccess ? state : asked;
  }

  // NCCL takes calls only once the one before is enqueued, or the communicator made.
  void AwaitReady(const std::string& call, std::chrono::milliseconds timeout) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    ncclResult_t state = State();
    while (state == ncclInProgress) {
      host_->Check();
      if (std::chrono::steady_clock::now() >= deadline) {
        throw DeviceFailure(call, device_, format("not ready within {} ms", timeout.count()));
      }
      std::this_thread::sleep_for(kPoll);
      state = State();
    }
    CheckNccl(state, call);
  }

  void CheckNccl(ncclResult_t result, const std::string& call) const {
    if (result == ncclSuccess || result == ncclInProgress) return;
    throw NcclError(result, call);
  }

  Error NcclError(ncclResult_t result, const std::string& call) const {
    return DeviceFailure(
        call, device_,
        format("NCCL: {}: {}", nccl_.GetErrorString(result), nccl_.GetLastError(communicator_)));
  }

  // Work on the device that waits for a failed rank ends only if its communicator is broken.
  void Watch(const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any stopped;
    while (!stopped.wait_for(lock, stop, kWatch, [&] { return stop.stop_requested(); })) {
      try {
        host_->Check();
        CheckState();
      } catch (const Error& error) {
        host_->Abort(error.what());
        Break(error);
        return;
      }
    }
  }

  void CheckState() {
    const std::lock_guard lock(mutex_);
    if (communicator_ == nullptr) return;
    CheckNccl(State(), "an earlier call");
  }

  void Break(const Error& error) noexcept {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = error;
    nccl_.CommAbort(communicator_);
    communicator_ = nullptr;
  }

  void ThrowIfFailed() const {
    if (failure_) throw Error(*failure_);
  }

  const std::shared_ptr<Collective> host_;
  const int device_;
  const CollectiveOptions options_;
  const NcclLibrary& nccl_;
  std::mutex mutex_;
  ncclComm_t communicator_ = nullptr;  // null once it was broken
  std::optional<Error> failure_;
  std::jthread watcher_;
};

}  // namespace

std::string NcclUnavailable() {
  if (!Nccl().failure.empty()) return Nccl().failure;
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess) {
    cudaGetLastError();
    return format("no CUDA device: {}", cudaGetErrorString(error));
  }
  return devices == 0 ? "no CUDA device" : "";
}

std::unique_ptr<Collective> NcclCollective(std::shared_ptr<Collective> host, int device,
                                           const CollectiveOptions& options) {
  return std::make_unique<OverNccl>(std::move(host), device, options);
}

}  // namespace recpack
