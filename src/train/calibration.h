// How large a network's activations get.
#pragma once

#include <map>

#include "src/train/trace.h"

namespace recpack {

// The largest magnitude of an activation, by where it lies; the input's is that of Trace::input.
using ActivationRanges = std::map<const void*, float>;

// Looks at what traced forward passes leave behind. Of pictures and activations of f32, in memory
// of the host.
class Calibration {
 public:
  // `trace` outlives it.
  explicit Calibration(const Trace& trace);

  // After a pass over `input`, which is as large as the trace's.
  void Observe(const void* input);

  // Over all passes so far.
  const ActivationRanges& ranges() const noexcept { return ranges_; }

 private:
  void Widen(const void* where, const float* values, int64_t count);

  const Trace& trace_;
  ActivationRanges ranges_;
};

}  // namespace recpack
