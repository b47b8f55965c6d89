#include "src/train/collectives/nccl/nccl_communicator.h"

#include <span>
#include <thread>
#include <vector>

#include "recpack/base/clock.h"
#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/collectives/nccl/nccl_collective.h"
#include "src/train/collectives/nccl/nccl_place.h"

namespace recpack::train {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPoll = std::chrono::microseconds(200);  // interval of polling NCCL
constexpr auto kGoodbye = std::chrono::seconds(10);

Error DeviceFailure(const std::string& call, int device, const std::string& text) {
  return {ErrorKind::kDevice, format("{} on device {}: {}", call, device, text)};
}

// NCCL uses the thread's current device.
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

GpuPlace FindPlace(int device) {
  char bus[32] = "";
  CheckCuda(cudaDeviceGetPCIBusId(bus, sizeof bus, device), "cudaDeviceGetPCIBusId", device);
  return PlaceOnBus(bus);
}

}  // namespace

void CheckCuda(cudaError_t error, const std::string& call, int device) {
  if (error == cudaSuccess) return;
  cudaGetLastError();
  throw DeviceFailure(call, device,
                      format("{} ({})", cudaGetErrorString(error), cudaGetErrorName(error)));
}

std::string NcclPlace(int device) { return FindPlace(device).data(); }

NcclCommunicator::NcclCommunicator(Collective& host, int device, const CollectiveOptions& options)
    : host_(host), device_(device), options_(options), nccl_(Nccl()) {
  try {
    Join();
  } catch (const Error& error) {
    host_.Abort(error.what());
    Break();
    if (enqueued_ != nullptr) cudaEventDestroy(enqueued_);
    throw;
  }
}

NcclCommunicator::~NcclCommunicator() {
  cudaEventDestroy(enqueued_);
  if (communicator_ != nullptr) Goodbye();
}

void NcclCommunicator::Join() {
  if (!nccl_.failure.empty()) throw Error(ErrorKind::kUnsupported, nccl_.failure);
  const CurrentDevice current(device_);
  CheckThatGpusDiffer();
  ncclUniqueId id = {};
  if (host_.rank() == 0) CheckNccl(nccl_.GetUniqueId(&id), "ncclGetUniqueId");
  host_.Broadcast(std::as_writable_bytes(std::span(&id, 1)), 0);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;  // non-blocking, so that a rank that never arrives can be given up
  CheckNccl(nccl_.CommInitRankConfig(&communicator_, host_.size(), id, host_.rank(), &config),
            "ncclCommInitRankConfig");
  AwaitReady("ncclCommInitRankConfig", options_.connect_timeout);
  CheckCuda(cudaEventCreateWithFlags(&enqueued_, cudaEventDisableTiming),
            "cudaEventCreateWithFlags", device_);
}

void NcclCommunicator::CheckThatGpusDiffer() const {
  const GpuPlace mine = FindPlace(device_);
  std::vector<GpuPlace> places(static_cast<size_t>(host_.size()));
  host_.AllGather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(places)));
  CheckThatPlacesDiffer(places);
}

void NcclCommunicator::Enqueue(const CollectiveCall& call, DeviceStream stream) {
  const CurrentDevice current(device_);
  last_ = CallText(call);
  CheckNccl(Call(call, stream), last_);
  AwaitReady(last_, options_.timeout);
  CheckCuda(cudaEventRecord(enqueued_, stream), "cudaEventRecord", device_);
  deadline_ = DeadlineAfter(options_.timeout);
}

ncclResult_t NcclCommunicator::Call(const CollectiveCall& call, DeviceStream stream) {
  switch (call.op) {
    case CollectiveOp::kAllReduce:
      return nccl_.AllReduce(call.in, call.out, call.count, ncclFloat32, ncclSum, communicator_,
                             stream);
    case CollectiveOp::kReduce:
      return nccl_.Reduce(call.in, call.out, call.count, ncclFloat32, ncclSum, call.root,
                          communicator_, stream);
    case CollectiveOp::kReduceScatter:
      return nccl_.ReduceScatter(call.in, call.out, call.count, ncclFloat32, ncclSum, communicator_,
                                 stream);
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

void NcclCommunicator::Check() {
  if (communicator_ == nullptr) return;
  CheckNccl(State(), "an earlier call");
  if (!deadline_ || Clock::now() < *deadline_) return;
  const CurrentDevice current(device_);
  const cudaError_t done = cudaEventQuery(enqueued_);
  if (done == cudaErrorNotReady) {
    if (Overslept(*deadline_)) {
      deadline_ = DeadlineAfter(options_.timeout);
      return;
    }
    throw DeviceFailure(last_, device_,
                        format("not done within {} ms: a rank does not reach it, or calls another",
                               options_.timeout.count()));
  }
  CheckCuda(done, last_, device_);
  deadline_.reset();
}

void NcclCommunicator::Break() noexcept {
  if (communicator_ != nullptr) nccl_.CommAbort(communicator_);
  communicator_ = nullptr;
}

ncclResult_t NcclCommunicator::State() const {
  ncclResult_t state = ncclSuccess;
  const ncclResult_t asked = nccl_.CommGetAsyncError(communicator_, &state);
  return asked == ncclSuccess ? state : asked;
}

// NCCL accepts a call only after the previous one is enqueued, or the communicator is made.
void NcclCommunicator::AwaitReady(const std::string& call, std::chrono::milliseconds timeout) {
  auto deadline = DeadlineAfter(timeout);
  ncclResult_t state = State();
  while (state == ncclInProgress) {
    host_.Check();
    if (Clock::now() >= deadline) {
      if (!Overslept(deadline)) {
        throw DeviceFailure(call, device_, format("not ready within {} ms", timeout.count()));
      }
      deadline = DeadlineAfter(timeout);
    }
    std::this_thread::sleep_for(kPoll);
    state = State();
  }
  CheckNccl(state, call);
}

void NcclCommunicator::CheckNccl(ncclResult_t result, const std::string& call) const {
  if (result == ncclSuccess || result == ncclInProgress) return;
  throw DeviceFailure(
      call, device_,
      format("NCCL: {}: {}", nccl_.GetErrorString(result), nccl_.GetLastError(communicator_)));
}

// The others end too, or have failed: this rank does not wait for them forever.
void NcclCommunicator::Goodbye() {
  nccl_.CommFinalize(communicator_);
  const auto deadline = Clock::now() + kGoodbye;
  while (State() == ncclInProgress && Clock::now() < deadline && !HostFailed()) {
    std::this_thread::sleep_for(kPoll);
  }
  if (State() == ncclSuccess) {
    nccl_.CommDestroy(communicator_);
  } else {
    nccl_.CommAbort(communicator_);
  }
}

bool NcclCommunicator::HostFailed() const noexcept {
  try {
    host_.Check();
    return false;
  } catch (const Error&) {
    return true;
  }
}

}  // namespace recpack::train
