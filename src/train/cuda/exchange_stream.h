// A stream beside that of a logical device.
#pragma once

#include <cuda_runtime.h>

#include <memory>

#include "recpack/train/exchange_stream.h"

namespace recpack {

// `stream`: of the logical device, on the GPU `device`; both outlive it.
std::unique_ptr<ExchangeStream> MakeCudaExchangeStream(int device, cudaStream_t stream,
                                                       size_t marks);

}  // namespace recpack
