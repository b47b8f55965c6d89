// LaunchFinish() with the launch parameters that benchmarks vary.
#pragma once

#include <cstdint>

#include "recpack/kernels/finish_cuda.h"

namespace recpack {

constexpr uint32_t kFinishThreads = 256;  // per block

// `threads`: a multiple of 32, at most 1024.
void LaunchFinishBlocks(const FinishOptions& options, const uint8_t* images,
                        const FinishGeometry* geometry, int count, void* out, CUstream_st* stream,
                        uint32_t threads);

}  // namespace recpack
