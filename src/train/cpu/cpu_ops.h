// CPU backend: oneDNN and our own kernels.
#pragma once

#include <exception>
#include <memory>
#include <vector>

#include "src/train/ops/ops.h"

namespace recpack::train {

struct CpuOptions {
  int threads = 0;                   // 0: AvailableThreads()
  std::vector<int> processors = {};  // one per thread, to bind it to; empty: not bound
};

// Throws Error: kInvalidArgument, kDevice.
std::unique_ptr<Ops> MakeCpuOps(const CpuOptions& options = {});

// Returns true for exceptions that the standard library or oneDNN throws when memory runs out.
bool IsOutOfMemory(const std::exception& error) noexcept;

}  // namespace recpack::train
