// NCCL's communicator, and what its functions tell, as Error.
#pragma once

#include <cuda_runtime.h>

#include <chrono>
#include <optional>
#include <string>

#include "src/train/collectives/collective.h"
#include "src/train/collectives/nccl_library.h"

namespace recpack::train {

// Throws Error (kDevice).
void CheckCuda(cudaError_t error, const std::string& call, int device);

// A rank's part, of a GPU. Not safe for several threads.
class NcclCommunicator {
 public:
  // All ranks of `host` make theirs at once: the id is handed out over it, and what fails at one
  // ends it for all.
  NcclCommunicator(Collective& host, int device, const CollectiveOptions& options);
  // Waits a while for the others to end as well, unless `host` has failed.
  ~NcclCommunicator();
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  // Of `call.count` above 0; no barrier. Returns once it is enqueued.
  void Enqueue(const CollectiveCall& call, DeviceStream stream);

  // Throws Error (kDevice) for what NCCL tells of calls that were enqueued, and where the last one
  // is not done within the timeout.
  void Check();

  // Ends what is on the device; there are no calls from here on.
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
  ncclComm_t communicator_ = nullptr;                              // null once it was broken
  cudaEvent_t enqueued_ = nullptr;                                 // behind the last call
  std::string last_;                                               // that call
  std::optional<std::chrono::steady_clock::time_point> deadline_;  // of it; empty: it is done
};

}  // namespace recpack::train
