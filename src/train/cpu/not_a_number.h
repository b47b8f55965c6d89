// Values that are no numbers, where oneDNN's operations would lose them.
#pragma once

#include "src/train/cpu/team.h"
#include "src/train/ops/ops.h"

namespace recpack::train {

// Of `count` values of f32 or bf16, whether one is no number.
bool HasNotANumber(const Team& team, ValueType type, const void* values, size_t count);

// The result of a window with such a value in it becomes one too: its maximum, as on other devices.
// Of maximum pooling of x, which was done.
void KeepNotANumber(const PoolingSpec& spec, const void* x, void* y);

}  // namespace recpack::train
