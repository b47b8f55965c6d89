#include "src/train/collectives/nccl/nccl_library.h"

#include "recpack/base/error.h"
#include "recpack/base/shared_library.h"
#include "src/base/format.h"

namespace recpack::train {
namespace {

// The first version with ncclCommFinalize() and non-blocking communicators.
constexpr int kOldest = 21400;

NcclLibrary Load() {
  NcclLibrary nccl;
  const SharedLibrary library("libnccl.so.2", RECPACK_NCCL_LIBRARY,
                              "install it: tools/setup.sh --cuda brings it");
  library.Find(nccl.GetVersion, "ncclGetVersion");
  library.Find(nccl.GetUniqueId, "ncclGetUniqueId");
  library.Find(nccl.GetErrorString, "ncclGetErrorString");
  library.Find(nccl.GetLastError, "ncclGetLastError");
  library.Find(nccl.CommInitRankConfig, "ncclCommInitRankConfig");
  library.Find(nccl.CommGetAsyncError, "ncclCommGetAsyncError");
  library.Find(nccl.CommFinalize, "ncclCommFinalize");
  library.Find(nccl.CommDestroy, "ncclCommDestroy");
  library.Find(nccl.CommAbort, "ncclCommAbort");
  library.Find(nccl.AllReduce, "ncclAllReduce");
  library.Find(nccl.Reduce, "ncclReduce");
  library.Find(nccl.ReduceScatter, "ncclReduceScatter");
  library.Find(nccl.Broadcast, "ncclBroadcast");
  library.Find(nccl.AllGather, "ncclAllGather");
  int version = 0;
  if (nccl.GetVersion(&version) != ncclSuccess || version < kOldest) {
    throw Error(
        ErrorKind::kUnsupported,
        format("NCCL is too old: its version is {}, at least {} is needed", version, kOldest));
  }
  return nccl;
}

}  // namespace

const NcclLibrary& Nccl() {
  static const NcclLibrary nccl = [] {
    try {
      return Load();
    } catch (const Error& error) {
      NcclLibrary none;
      none.failure = error.what();
      return none;
    }
  }();
  return nccl;
}

}  // namespace recpack::train
