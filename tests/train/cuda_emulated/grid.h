// Runs a kernel: its blocks one after another, the threads of a block in any order.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <random>

namespace recpack::emulated {

// Not thread-safe.
void RunGrid(dim3 grid, dim3 block, const std::function<void()>& thread, std::mt19937_64& random);

}  // namespace recpack::emulated
