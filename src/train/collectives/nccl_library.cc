#include "src/train/collectives/nccl_library.h"

#include <dlfcn.h>

#include "src/base/format.h"

namespace recpack {
namespace {

// ncclCommFinalize() and communicators that do not block came with it.
constexpr int kOldest = 21400;

void* Open(std::string& failure) {
  // By name, as the system finds it; then where this build found it.
  for (const char* path : {"libnccl.so.2", RECPACK_NCCL_LIBRARY}) {
    if (*path == '\0') continue;
    if (void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return library;
    if (failure.empty()) failure = format("no NCCL: {}", dlerror());
  }
  return nullptr;
}

// Loads functions until one is missing.
class Loader {
 public:
  explicit Loader(NcclLibrary& nccl) : nccl_(nccl), library_(Open(nccl.failure)) {
    if (library_ != nullptr) nccl_.failure.clear();
  }

  template <typename Function>
  Loader& Load(Function& function, const char* name) {
    if (!nccl_.failure.empty()) return *this;
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (function == nullptr) nccl_.failure = format("NCCL is too old: it has no {}", name);
    return *this;
  }

 private:
  NcclLibrary& nccl_;
  void* library_;
};

NcclLibrary Loaded() {
  NcclLibrary nccl;
  Loader(nccl)
      .Load(nccl.GetVersion, "ncclGetVersion")
      .Load(nccl.GetUniqueId, "ncclGetUniqueId")
      .Load(nccl.GetErrorString, "ncclGetErrorString")
      .Load(nccl.GetLastError, "ncclGetLastError")
      .Load(nccl.CommInitRankConfig, "ncclCommInitRankConfig")
      .Load(nccl.CommGetAsyncError, "ncclCommGetAsyncError")
      .Load(nccl.CommFinalize, "ncclCommFinalize")
      .Load(nccl.CommDestroy, "ncclCommDestroy")
      .Load(nccl.CommAbort, "ncclCommAbort")
      .Load(nccl.AllReduce, "ncclAllReduce")
      .Load(nccl.Reduce, "ncclReduce")
      .Load(nccl.ReduceScatter, "ncclReduceScatter")
      .Load(nccl.Broadcast, "ncclBroadcast")
      .Load(nccl.AllGather, "ncclAllGather");
  int version = 0;
  if (nccl.failure.empty() && (nccl.GetVersion(&version) != ncclSuccess || version < kOldest)) {
    nccl.failure = format("NCCL is too old: its version is {}, {} is needed", version, kOldest);
  }
  return nccl;
}

}  // namespace

const NcclLibrary& Nccl() {
  static const NcclLibrary nccl = Loaded();
  return nccl;
}

}  // namespace recpack
