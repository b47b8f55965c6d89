// Collectives between GPUs by NCCL: recpack::train_nccl. Run on an emulation, not yet on a GPU.
#pragma once

#include <memory>
#include <string>

#include "src/train/collectives/collective.h"

namespace recpack::train {

// Empty if NCCL can be used on this machine, otherwise why not. NCCL is loaded at run time.
std::string NcclUnavailable();

// The part of the GPU `device`, whose memory all arrays lie in; one rank a GPU. Calls enqueue on
// their stream, of that device, and return; time on the device is in no account. Before the object
// goes, the work on its streams must be done.
//
// `host` connects the same ranks for the host's memory, and stays the caller's to abort. Over it
// ranks find each other, Barrier() goes, and failures are told: a thread looks for them, and then
// ends what waits on the device. Whether calls match is not checked: one that others do not make is
// ended by the timeout, which also counts what is on its stream before it.
//
// Sums are added in NCCL's order: all ranks get the same bits. That other runs get them is not
// promised (docs/training.md). Throws Error at all ranks: kUnsupported where there is no
// NCCL, or if two ranks name one GPU, which NCCL does not do; kDevice where there is no such GPU.
std::unique_ptr<Collective> NcclCollective(std::shared_ptr<Collective> host, int device,
                                           const CollectiveOptions& options = {});

// Names the GPU among all machines: ranks whose places are the same would be of one GPU. Throws
// Error (kDevice) where there is no such GPU, kUnsupported in a build without NCCL.
std::string NcclPlace(int device);

// Makes those, with these options.
GpuCollectives NcclCollectives(const CollectiveOptions& options = {});

}  // namespace recpack::train
