#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include "src/train/collectives/nccl/nccl_library.h"
#include "tests/train/cuda_emulated/communicator.h"
#include "tests/train/cuda_emulated/machine.h"
#include "tests/train/cuda_emulated/nccl_faults.h"

namespace recpack::emulated {
namespace {

std::mutex mutex;
std::map<ncclComm_t, std::shared_ptr<ncclComm>> communicators;

// An invalid handle ends the program, as it might with NCCL.
std::shared_ptr<ncclComm> Find(ncclComm_t handle) {
  const std::lock_guard lock(mutex);
  const auto found = communicators.find(handle);
  if (found != communicators.end()) return found->second;
  std::fprintf(stderr, "emulated NCCL: unknown or destroyed communicator\n");
  std::abort();
}

void Forget(ncclComm_t handle) {
  const std::lock_guard lock(mutex);
  communicators.erase(handle);
}

ncclResult_t GetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

ncclResult_t GetUniqueId(ncclUniqueId* id) {
  const std::string folder = Mailbox::MakeFolder();
  if (folder.size() >= sizeof id->internal) return ncclSystemError;
  *id = {};
  folder.copy(id->internal, folder.size());
  return ncclSuccess;
}

const char* GetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclInvalidUsage:
      return "invalid usage";
    case ncclInvalidArgument:
      return "invalid argument";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    default:
      return "an error of the emulated NCCL";
  }
}

const char* GetLastError(ncclComm_t handle) { return handle ? Find(handle)->last_error() : "none"; }

ncclResult_t CommInitRankConfig(ncclComm_t* handle, int size, ncclUniqueId id, int rank,
                                ncclConfig_t* config) {
  if (rank < 0 || rank >= size || !config || config->blocking != 0) return ncclInvalidArgument;
  const auto made = std::make_shared<ncclComm>(id.internal, rank, size, CurrentDevice());
  const std::lock_guard lock(mutex);
  communicators[made.get()] = made;
  *handle = made.get();
  return ncclInProgress;
}

ncclResult_t CommGetAsyncError(ncclComm_t handle, ncclResult_t* state) {
  *state = Find(handle)->State();
  return ncclSuccess;
}

ncclResult_t CommFinalize(ncclComm_t handle) {
  Find(handle)->Finalize();
  return ncclInProgress;
}

ncclResult_t CommDestroy(ncclComm_t handle) {
  const auto communicator = Find(handle);
  if (!communicator->finalized() || communicator->State() != ncclSuccess) {
    std::fprintf(stderr, "emulated NCCL: destroyed before it was finalized\n");
    std::abort();
  }
  Forget(handle);
  return ncclSuccess;
}

ncclResult_t CommAbort(ncclComm_t handle) {
  Find(handle)->Abort();
  Forget(handle);
  return ncclSuccess;
}

size_t BytesOf(ncclDataType_t type) { return type == ncclFloat32 ? sizeof(float) : 1; }

size_t SizeOf(ncclComm_t handle) { return static_cast<size_t>(Find(handle)->size()); }

ncclResult_t AllReduce(const void* in, void* out, size_t count, ncclDataType_t type, ncclRedOp_t,
                       ncclComm_t handle, cudaStream_t stream) {
  const size_t bytes = count * BytesOf(type);
  return Find(handle)->Enqueue("ncclAllReduce", {NcclCall::Op::kAllReduce, count, BytesOf(type)},
                               {in, out, bytes, bytes}, stream);
}

ncclResult_t Reduce(const void* in, void* out, size_t count, ncclDataType_t type, ncclRedOp_t,
                    int root, ncclComm_t handle, cudaStream_t stream) {
  const size_t bytes = count * BytesOf(type);
  return Find(handle)->Enqueue("ncclReduce", {NcclCall::Op::kReduce, count, BytesOf(type), root},
                               {in, out, bytes, bytes}, stream);
}

ncclResult_t ReduceScatter(const void* in, void* out, size_t count, ncclDataType_t type,
                           ncclRedOp_t, ncclComm_t handle, cudaStream_t stream) {
  const size_t bytes = count * BytesOf(type);
  return Find(handle)->Enqueue("ncclReduceScatter",
                               {NcclCall::Op::kReduceScatter, count, BytesOf(type)},
                               {in, out, bytes * SizeOf(handle), bytes}, stream);
}

ncclResult_t Broadcast(const void* in, void* out, size_t count, ncclDataType_t type, int root,
                       ncclComm_t handle, cudaStream_t stream) {
  const size_t bytes = count * BytesOf(type);
  return Find(handle)->Enqueue("ncclBroadcast",
                               {NcclCall::Op::kBroadcast, count, BytesOf(type), root},
                               {in, out, bytes, bytes}, stream);
}

ncclResult_t AllGather(const void* in, void* out, size_t count, ncclDataType_t type,
                       ncclComm_t handle, cudaStream_t stream) {
  const size_t bytes = count * BytesOf(type);
  return Find(handle)->Enqueue("ncclAllGather", {NcclCall::Op::kAllGather, count, BytesOf(type)},
                               {in, out, bytes, bytes * SizeOf(handle)}, stream);
}

}  // namespace

size_t LiveCommunicators() {
  const std::lock_guard lock(mutex);
  return communicators.size();
}

}  // namespace recpack::emulated

namespace recpack::train {

const NcclLibrary& Nccl() {
  using namespace emulated;  // NOLINT: the functions above
  static const NcclLibrary nccl = {.GetVersion = GetVersion,
                                   .GetUniqueId = GetUniqueId,
                                   .GetErrorString = GetErrorString,
                                   .GetLastError = GetLastError,
                                   .CommInitRankConfig = CommInitRankConfig,
                                   .CommGetAsyncError = CommGetAsyncError,
                                   .CommFinalize = CommFinalize,
                                   .CommDestroy = CommDestroy,
                                   .CommAbort = CommAbort,
                                   .AllReduce = AllReduce,
                                   .Reduce = Reduce,
                                   .ReduceScatter = ReduceScatter,
                                   .Broadcast = Broadcast,
                                   .AllGather = AllGather};
  return nccl;
}

}  // namespace recpack::train
