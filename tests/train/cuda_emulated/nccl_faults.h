// NCCL of the emulated machine, behind the table of its functions (nccl_library.h), as NCCL's
// documents say it: communicators that do not block, calls that lie in streams until all ranks have
// come to them, sums that are done where the data are. A rank is a thread or a process. What it
// cannot show: speed, NCCL's own order of additions (here they are in rank order), and what the
// real library does otherwise than it is documented. Of several processes each goes on only while
// one of its threads waits for its devices.
#pragma once

#include <cstddef>
#include <cstdint>

namespace recpack::emulated {

enum class NcclFault : uint8_t {
  kAsyncError,  // ncclCommGetAsyncError() tells of it; the call never ends
  kHang,        // the call never ends, and nobody tells why
};

// In the call after the next `skip` of this rank of whichever communicator. One at a time.
void FailNccl(NcclFault fault, int rank, int skip = 0);

// Communicators of this process that were made and not given back.
size_t LiveCommunicators();

}  // namespace recpack::emulated
