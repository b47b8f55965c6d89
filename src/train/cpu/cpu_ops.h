// Devices of the CPU: computed by oneDNN and kernels of ours.
#pragma once

#include <memory>
#include <vector>

#include "src/train/ops/ops.h"

namespace recpack::train {

struct CpuOptions {
  int threads = 0;                   // 0: AvailableThreads()
  std::vector<int> processors = {};  // its threads are bound to them, one each; empty: not bound
};

// Throws Error: kInvalidArgument, kDevice.
std::unique_ptr<Ops> MakeCpuOps(const CpuOptions& options = {});

}  // namespace recpack::train
