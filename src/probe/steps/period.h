// Steps that nobody tells of, by the period of what a device does.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace recpack::probe {

struct Period {
  std::string of;       // "kernel starts on device 0 of process 7", "utilisation of GPU 0"
  double seconds = 0;   // of one step
  double error = 0;     // seconds, standard error
  double strength = 0;  // autocorrelation at the period: 1 is exact repetition
};

// The period of a signal that has a value every `spacing` seconds; nothing where it does not
// repeat. By autocorrelation: a signal repeats where its correlation with itself, shifted, has a
// peak of at least 0.5 that stands on each side above what lies between, and the same again at
// twice the shift. The shortest such shift whose correlation comes near the highest is the period;
// its error is what the peaks at its multiples leave of a line through the origin, a peak's own
// width of one spacing, and how much parts of the signal differ. Periods from 4 spacings to a sixth
// of the signal are looked for.
std::optional<Period> FindPeriod(std::span<const float> signal, double spacing);

}  // namespace recpack::probe
