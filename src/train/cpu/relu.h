// ReLU, forwards.
#pragma once

#include "src/train/cpu/team.h"
#include "src/train/ops/tensor.h"

namespace recpack::train {

// y = x where x is not below 0, else 0. What is no number stays so, which oneDNN's ReLU makes 0 of:
// a training would go on with it unseen. f32 or bf16; y may be x. Throws Error (kUnsupported) for
// other types.
void Relu(const Team& team, const Tensor& x, const Tensor& y);

}  // namespace recpack::train
