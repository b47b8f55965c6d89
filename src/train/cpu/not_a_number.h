// Detects and propagates NaN where oneDNN's operations would lose it.
#pragma once

#include "src/train/cpu/team.h"
#include "src/train/ops/ops.h"

namespace recpack::train {

// Returns true if any of `count` f32 or bf16 values is NaN.
bool HasNotANumber(const Team& team, ElementType type, const void* values, size_t count);

// Call after maximum pooling of x: stores NaN for each window that contains NaN, as other devices
// do.
void KeepNotANumber(const PoolingSpec& spec, const void* x, void* y);

}  // namespace recpack::train
