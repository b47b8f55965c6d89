// Owns an NCCL communicator, and converts NCCL's errors to Error.
#pragma once

#include <cuda_runtime.h>

#include <chrono>
#include <optional>
#include <string>

#include "src/train/collectives/collective.h"
#include "src/train/collectives/nccl/nccl_library.h"

namespace recpack::train {

// Throws Error (kDevice).
void CheckCuda(cudaError_t error, const std::string& call, int device);

// One rank's GPU. Not thread-safe.
class NcclCommunicator {
 public:
  // Collective over the ranks of `host`, which distributes the id; a failure on one rank ends it on
  // all.
  NcclCommunicator(Collective& host, int device, const CollectiveOptions& options);
  // Waits for a while until the others end as well, unless `host` has failed.
  ~NcclCommunicator();
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  // Enqueues a call and returns. `call.count` must be above 0; not for barriers.
  void Enqueue(const CollectiveCall& call, DeviceStream stream);

  // Throws Error (kDevice) for asynchronous NCCL errors, and if the last call exceeds the timeout.
  void Check();

  // Ends the work on the device; no calls may follow.
  void Break() noexcept;

 private:
  void Join();
  void CheckThatGpusDiffer() const;
  ncclResult_t Call(const CollectiveCall& call, DeviceStream stream);
  ncclResult_t State() const;
  void AwaitReady(const std::string& call, std::chrono::milliseconds timeout);
  void CheckNccl(ncclResult_t result, const std::string& call) const;
  void Goodbye();
  bool HostFailed() const noexcept;

  Collective& host_;
  const int device_;
  const CollectiveOptions options_;
  const NcclLibrary& nccl_;
  ncclComm_t communicator_ = nullptr;  // null after Break()
  cudaEvent_t enqueued_ = nullptr;     // recorded after the last call
  std::string last_;                   // text of the last call
  // of the last call; unset: it is done
  std::optional<std::chrono::steady_clock::time_point> deadline_;
};

}  // namespace recpack::train
