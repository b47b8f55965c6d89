// Runs a traced network with batch normalisation folded into its convolutions.
#pragma once

#include <memory>

#include "src/train/trace/trace.h"

namespace recpack::train {

// The f32 counterpart of QuantisedNetwork. Convolutions include the normalisation, residual and
// ReLU after them, dense layers their ReLU; all other operations run as traced.
//
// Used on the thread that the traced model's Ops is attached to. Must not outlive the model and the
// Ops.
class FoldedNetwork {
 public:
  // Uses the current values of the variables. Throws Error (kUnsupported) for networks that do not
  // begin with a convolution or dense layer, and for operations that oneDNN does not support.
  explicit FoldedNetwork(const Trace& trace);
  ~FoldedNetwork();

  // Writes the logits to Trace::logits. `input`: f32, with the shape of the trace's input.
  void Run(const void* input) const;

 private:
  struct Program;
  std::unique_ptr<Program> program_;
};

}  // namespace recpack::train
