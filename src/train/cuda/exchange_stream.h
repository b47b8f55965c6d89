// A stream beside that of a logical device.
#pragma once

#include <memory>

#include "src/train/cuda/side_stream.h"
#include "src/train/ops/exchange_stream.h"

namespace recpack::train {

// `streams`: of the logical device, on the GPU `device`; they outlive it.
std::unique_ptr<ExchangeStream> MakeCudaExchangeStream(int device, SideStream& streams,
                                                       size_t marks);

}  // namespace recpack::train
