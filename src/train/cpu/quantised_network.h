// A traced network with integer arithmetic.
#pragma once

#include <memory>

#include "src/train/ops/calibration.h"

namespace recpack::train {

// By how a network's operations are computed. Normalisation and ReLU that were folded into the
// layer before them do not count.
struct OperationCounts {
  int int8 = 0;
  int f32 = 0;
};

// Convolutions and dense layers over 8-bit activations and weights, summed in 32 bits:
// real = scale * integer, rounded to nearest, with a scale for each activation (its range / 255
// where ReLU leaves no sign, else / 127; on processors without VNNI / 127 throughout) and one for
// each output channel of weights (largest / 127). Batch normalisation is folded into the
// convolution before it; residuals are added before the sum is rounded. Maxima are taken of
// integers. What else there is, and the last dense layer, stays in f32, with conversions between.
//
// Used by the thread that the traced model's Ops is attached to. Ends before model and Ops.
class QuantisedNetwork {
 public:
  // Variables are taken as they are now. Throws Error (kUnsupported) for networks that begin with
  // no convolution or dense layer, and for what oneDNN has not.
  QuantisedNetwork(const Trace& trace, const ActivationRanges& ranges);
  ~QuantisedNetwork();

  // Leaves the logits at Trace::logits. `input`: as large as the trace's, f32.
  void Run(const void* input) const;

  OperationCounts counts() const noexcept;

 private:
  struct Program;
  std::unique_ptr<Program> program_;
};

}  // namespace recpack::train
