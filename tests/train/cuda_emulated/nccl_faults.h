// NCCL of the emulated machine, behind its function table (nccl_library.h), as NCCL's documentation
// describes it: non-blocking communicators, calls that stay in streams until all ranks have reached
// them, and sums in device memory. A rank is a thread or a process. Not covered: speed, NCCL's own
// order of additions (here: rank order), and undocumented behaviour of the real library. With
// several processes, each makes progress only while one of its threads waits for its devices.
#pragma once

#include <cstddef>
#include <cstdint>

namespace recpack::emulated {

enum class NcclFault : uint8_t {
  kAsyncError,  // ncclCommGetAsyncError() reports it; the call never ends
  kHang,        // the call never ends, and no error is reported
};

// Affects the call after the next `skip` of this rank, on any communicator. One at a time.
void FailNccl(NcclFault fault, int rank, int skip = 0);

// Communicators of this process that were not destroyed.
size_t LiveCommunicators();

}  // namespace recpack::emulated
