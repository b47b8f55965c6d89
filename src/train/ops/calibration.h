// How large a network's activations get.
#pragma once

#include <map>
#include <vector>

#include "src/train/ops/trace.h"

namespace recpack::train {

// The magnitude that an activation's integers reach to, by where it lies; the input's is that of
// Trace::input.
using ActivationRanges = std::map<const void*, float>;

// Looks at what traced forward passes leave behind. Of pictures and activations of f32, in memory
// of the host.
class Calibration {
 public:
  // `trace` outlives it.
  explicit Calibration(const Trace& trace);

  // After a pass over `input`, which is as large as the trace's.
  void Observe(const void* input);

  // Over all passes so far: of each activation the least magnitude, to within 1 %, that as many
  // percent of its values do not exceed, zeros included. At 100 the largest, exactly.
  ActivationRanges Ranges(double percentile) const;

 private:
  struct Magnitudes {
    float largest = 0;
    std::vector<uint64_t> counts;  // by the upper 16 bits, which are those of a bf16
  };
  void Widen(const void* where, const float* values, int64_t count);

  const Trace& trace_;
  std::map<const void*, Magnitudes> magnitudes_;
};

}  // namespace recpack::train
