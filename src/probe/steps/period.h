// Finds the period of a device's activity, to detect steps of uninstrumented programs.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace recpack::probe {

struct Period {
  std::string of;       // "kernel starts on device 0 of process 7", "utilisation of GPU 0"
  double seconds = 0;   // per step
  double error = 0;     // seconds, standard error
  double strength = 0;  // autocorrelation at the period: 1 is exact repetition
};

// Finds the period of a signal with a value every `spacing` seconds, by autocorrelation. Returns
// nullopt if the signal does not repeat. It repeats if the autocorrelation has a peak of at least
// 0.5 that stands out on both sides, and another at twice the shift. The period is the shortest
// such shift whose correlation is near the highest. Its error combines the residuals of a line
// through the origin and the peaks at multiples of the period, the resolution of one spacing, and
// the differences between parts of the signal. Finds periods from 4 spacings to a sixth of the
// signal.
std::optional<Period> FindPeriod(std::span<const float> signal, double spacing);

}  // namespace recpack::probe
