// Collectives between GPUs by NCCL: recpack::train_nccl. Run on an emulation, not yet on a GPU.
#pragma once

#include <memory>
#include <string>

#include "src/train/collectives/collective.h"

namespace recpack::train {

// Returns why NCCL cannot be used on this machine; empty: it can. NCCL is loaded at run time.
std::string NcclUnavailable();

// The member for GPU number `device`, which holds all arrays; one rank per GPU. Calls enqueue on
// their stream of that device and return; accounts do not include time on the device. The work on
// its streams must be done before the object is destroyed.
//
// `host` connects the same ranks in host memory; the caller may abort it. It is used for setup, for
// Barrier() and to report failures: a thread polls it and ends blocked device work. Calls are not
// checked to match: a call that other ranks do not make ends by the timeout, which also includes
// earlier work on its stream.
//
// Sums are added in NCCL's order: all ranks get the same bits, but other runs may not
// (docs/reference/collectives.md). Throws Error on all ranks: kUnsupported without NCCL, or if two
// ranks use one GPU, which NCCL does not support; kDevice if there is no such GPU.
std::unique_ptr<Collective> NcclCollective(std::shared_ptr<Collective> host, int device,
                                           const CollectiveOptions& options = {});

// Identifies the GPU among all machines: equal for ranks that use the same GPU. Throws Error
// (kDevice) if there is no such GPU, kUnsupported in a build without NCCL.
std::string NcclPlace(int device);

// The NCCL functions above, with these options.
GpuCollectives NcclCollectives(const CollectiveOptions& options = {});

}  // namespace recpack::train
