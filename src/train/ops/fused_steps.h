// Operations of a trace that are computed in one go.
#pragma once

#include <vector>

#include "src/train/ops/trace.h"

namespace recpack::train {

// A convolution with the normalisation behind it, a layer with its ReLU, or an operation alone.
// Points into the trace.
struct FusedStep {
  const TracedStep* first = nullptr;  // reads x
  const TracedNorm* norm = nullptr;   // of the convolution; null: none
  Tensor y;                           // what the last of them makes
  bool relu = false;                  // is taken of it; that of a norm by itself is its own

  const void* residual() const;  // what a norm adds besides; null: nothing
  bool Reads(const void* data) const { return first->x.data == data || residual() == data; }
};

// In the order in which they are to run: a convolution runs where its norm was. Norms that read
// what others read as well stay by themselves. `trace` outlives the steps.
std::vector<FusedStep> FuseSteps(const Trace& trace);

}  // namespace recpack::train
