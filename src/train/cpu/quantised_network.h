// Runs a traced network with 8-bit integer arithmetic.
#pragma once

#include <memory>

#include "src/train/trace/calibration.h"

namespace recpack::train {

// Number of operations by type. Excludes normalisation and ReLU that were folded into the layer
// before.
struct OperationCounts {
  int int8 = 0;
  int f32 = 0;
};

// Convolutions and dense layers over 8-bit activations and weights, with 32-bit sums: real = scale
// * integer, rounded to nearest, with one scale per activation (its range / 255 after ReLU, which
// leaves no sign, else / 127; on processors without VNNI / 127 throughout) and one per output
// channel of weights (maximum / 127). Batch normalisation is folded into the convolution before it;
// residuals are added before the sum is rounded. Max pooling works on integers. All other
// operations, and the last dense layer, run in f32, with conversions in between.
//
// Used on the thread that the traced model's Ops is attached to. Must not outlive the model and the
// Ops.
class QuantisedNetwork {
 public:
  // Uses the current values of the variables. Throws Error (kUnsupported) for networks that do not
  // begin with a convolution or dense layer, and for operations that oneDNN does not support.
  QuantisedNetwork(const Trace& trace, const ActivationRanges& ranges);
  ~QuantisedNetwork();

  // Writes the logits to Trace::logits. `input`: f32, with the shape of the trace's input.
  void Run(const void* input) const;

  OperationCounts counts() const noexcept;

 private:
  struct Program;
  std::unique_ptr<Program> program_;
};

}  // namespace recpack::train
