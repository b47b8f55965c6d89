// ReLU forward pass that keeps NaN.
#pragma once

#include "src/train/cpu/team.h"
#include "src/train/ops/tensor.h"

namespace recpack::train {

// y = max(x, 0), but NaN stays NaN. oneDNN's ReLU turns NaN into 0, which would hide a failed
// training. f32 or bf16; y may be x. Throws Error (kUnsupported) for other types.
void Relu(const Team& team, const Tensor& x, const Tensor& y);

}  // namespace recpack::train
