// Run on an emulation, not yet on a GPU.
#include "src/train/collectives/nccl/nccl_collective.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/start_thread.h"
#include "src/base/format.h"
#include "src/train/collectives/collective_failure.h"
#include "src/train/collectives/nccl/nccl_communicator.h"

namespace recpack::train {
namespace {

constexpr auto kWatch = std::chrono::milliseconds(100);  // interval of checks for failures

class OverNccl final : public Collective {
 public:
  OverNccl(std::shared_ptr<Collective> host, int device, const CollectiveOptions& options)
      : Collective(host->rank(), host->size()),
        host_(std::move(host)),
        device_(device),
        communicator_(*host_, device, options) {
    watcher_ = StartThread<std::jthread>([this](const std::stop_token& stop) { Watch(stop); });
  }

  ~OverNccl() override {
    watcher_.request_stop();
    watcher_.join();
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
  void Run(const CollectiveCall& call, DeviceStream stream) override {
    if (call.op == CollectiveOp::kBarrier) return host_->Barrier();
    if (call.count == 0) return;
    try {
      const std::lock_guard lock(mutex_);
      ThrowIfFailed();
      communicator_.Enqueue(call, stream);
    } catch (const Error& error) {
      End(error);
      throw;
    }
  }

  // Device work that waits for a failed rank ends only if its communicator is aborted.
  void Watch(const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any stopped;
    while (!stopped.wait_for(lock, stop, kWatch, [&] { return stop.stop_requested(); })) {
      try {
        host_->Check();
        const std::lock_guard own(mutex_);
        communicator_.Check();
      } catch (const Error& error) {
        End(error);
        return;
      }
    }
  }

  void End(const Error& error) noexcept {
    host_->Abort(error.what());
    Break(error);
  }

  void Break(const Error& error) noexcept {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = error;
    communicator_.Break();
  }

  void ThrowIfFailed() const {
    if (failure_) throw Error(*failure_);
  }

  const std::shared_ptr<Collective> host_;
  const int device_;
  std::mutex mutex_;  // guards the members below
  NcclCommunicator communicator_;
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

}  // namespace recpack::train
