// Asks CUDA how two GPUs are connected.
#pragma once

#include "src/train/ops/gpu_link.h"

namespace recpack::train {

// The link between GPUs number `one` and `other`, in the slower direction. Peer access with atomic
// operations over the link is NVLink: PCI Express has none. Throws Error: kUnsupported if this
// build has no CUDA backend; kDevice for a missing GPU.
GpuLink LinkBetween(int one, int other);

}  // namespace recpack::train
