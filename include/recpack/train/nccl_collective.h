// Collectives between GPUs by NCCL: recpack::train_nccl. Compiled, not yet run on a GPU.
#pragma once

#include <memory>
#include <string>

#include "recpack/train/collective.h"

namespace recpack {

// Empty if NCCL can be used on this machine, otherwise why not. NCCL is loaded at run time.
std::string NcclUnavailable();

// The part of the GPU `device`, whose memory all arrays lie in; one rank a GPU. Calls enqueue on
// their stream, of that device, and return; time on the device is in no account. Before the object
// goes, the work on its streams must be done.
//
// `host` connects the same ranks for the host's memory, and stays the caller's to abort. Over it
// ranks find each other, Barrier() goes, and failures are told: a thread looks for them, and then
// ends what waits on the device. Whether calls match is not checked: work that does not end is for
// the caller's own deadline.
//
// Sums are added in NCCL's order: all ranks get the same bits; other runs do if NCCL's version, its
// settings and the machines are the same. Throws Error at all ranks: kUnsupported where there is no
// NCCL, or if two ranks name one GPU, which NCCL does not do; kDevice where there is no such GPU.
std::unique_ptr<Collective> NcclCollective(std::shared_ptr<Collective> host, int device,
                                           const CollectiveOptions& options = {});

GpuCollectives NcclCollectives();

}  // namespace recpack
