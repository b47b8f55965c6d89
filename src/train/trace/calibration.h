// Measures the range of a network's activations, for quantisation.
#pragma once

#include <map>
#include <vector>

#include "src/train/trace/trace.h"

namespace recpack::train {

// The largest magnitude that an activation's integers represent, by the activation's address. The
// key of the network's input is Trace::input.
using ActivationRanges = std::map<const void*, float>;

// Observes the activations that traced forward passes leave in memory. For image models with f32
// activations in host memory.
class Calibration {
 public:
  // `trace` must outlive this object.
  explicit Calibration(const Trace& trace);

  // Call after a pass over `input`, which has the shape of the trace's input.
  void Observe(const void* input);

  // Over all passes so far: for each activation, the smallest magnitude (to within 1 %) that
  // `percentile` percent of its values, zeros included, do not exceed. At 100, the exact maximum.
  ActivationRanges Ranges(double percentile) const;

 private:
  struct Magnitudes {
    float largest = 0;
    std::vector<uint64_t> counts;  // by the upper 16 bits, which form a bf16
  };
  void Widen(const void* where, const float* values, int64_t count);

  const Trace& trace_;
  std::map<const void*, Magnitudes> magnitudes_;
};

}  // namespace recpack::train
