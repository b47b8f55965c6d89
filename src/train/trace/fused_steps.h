// Finds operations of a trace that can be computed as one fused step.
#pragma once

#include <vector>

#include "src/train/trace/trace.h"

namespace recpack::train {

// A convolution with the normalisation after it, a layer with its ReLU, or a single operation.
// Points into the trace.
struct FusedStep {
  const TracedStep* first = nullptr;  // reads x
  const TracedNorm* norm = nullptr;   // after the convolution; null: none
  Tensor y;                           // output of the last operation
  bool relu = false;                  // ReLU after the last operation; not the norm's own ReLU

  const void* residual() const;  // what a norm adds; null: nothing
  bool Reads(const void* data) const;
};

// Returns the steps in execution order: a fused convolution runs where its norm was. A norm whose
// input has other readers is not fused. `trace` must outlive the steps.
std::vector<FusedStep> FuseSteps(const Trace& trace);

}  // namespace recpack::train
