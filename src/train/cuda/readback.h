// Results of a device, read later.
#pragma once

#include <memory>

#include "src/train/cuda/context.h"

namespace recpack::train {

std::unique_ptr<Readback> MakeCudaReadback(const CudaContext& context, size_t bytes);

}  // namespace recpack::train
