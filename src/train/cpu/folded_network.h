// A traced network with batch normalisation folded into its convolutions.
#pragma once

#include <memory>

#include "src/train/ops/trace.h"

namespace recpack::train {

// In f32: what QuantisedNetwork is but for the integers. Convolutions have the normalisation, the
// residual and the ReLU behind them computed along, dense layers their ReLU; what else there is
// runs as it was traced.
//
// Used by the thread that the traced model's Ops is attached to. Ends before model and Ops.
class FoldedNetwork {
 public:
  // Variables are taken as they are now. Throws Error (kUnsupported) for networks that begin with
  // no convolution or dense layer, and for what oneDNN has not.
  explicit FoldedNetwork(const Trace& trace);
  ~FoldedNetwork();

  // Leaves the logits at Trace::logits. `input`: as large as the trace's, f32.
  void Run(const void* input) const;

 private:
  struct Program;
  std::unique_ptr<Program> program_;
};

}  // namespace recpack::train
