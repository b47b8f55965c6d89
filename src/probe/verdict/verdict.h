// The verdict on a training: whether it is input-bound, where, and what fixing it would gain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/probe/evidence/bottleneck.h"
#include "src/probe/steps/period.h"
#include "src/probe/util/estimate.h"

namespace recpack::probe {

// By the share of its steps that a training waits for input while its device does nothing; limits
// as users of TensorFlow's profiler know them.
enum class Band : uint8_t {
  kUnknown,     // no steps were seen
  kUndecided,   // the interval lies on both sides of a limit
  kNotInput,    // below 5 %
  kModerately,  // 5 to 20 %
  kHighly,      // 20 % and more
};
inline constexpr size_t kBands = 5;

const char* BandName(Band band) noexcept;  // "not input-bound", ...

// Shares of the mean step; they add up to 1.
struct Breakdown {
  double input_wait = 0;     // that no device work covers
  double copies = 0;         // to the device
  double device_copies = 0;  // within devices, and from one to another
  double exchange = 0;
  double device = 0;
  double other = 0;
};

struct Verdict {
  static constexpr size_t kFewestSteps = 10;  // that are enough to decide by

  Band band = Band::kUnknown;
  Estimate input_share;  // of step time
  // Of steps a second, if there were no such waits: 0.25 is 25 % more. Infinite: they may be all of
  // it.
  Estimate gain;
  double steps_per_second = 0;  // of all trainers together, each its own
  size_t steps = 0;             // that count, of the trainer with the fewest
  size_t left_out = 0;          // at the beginning, of each
  // Nobody told what the devices did, or what ranks waited for each other, or whether batches are
  // fetched ahead: some waits may be covered.
  bool upper_bound = false;
  std::optional<Period>
      period;  // of a step, where nobody told of steps and the devices' work repeats
  Breakdown breakdown;
  Bottleneck bottleneck = Bottleneck::kUnknown;
  // That all wait for: its rank where processes tell theirs, else its place among the trainers.
  std::optional<size_t> rank;
  std::vector<std::string> evidence;  // for the bottleneck, strongest first
  std::string cure;                   // what to do next; empty: nothing
  std::vector<std::string> hints;     // what older rules would say, and what contradicts them
  std::vector<std::string> notes;     // what stands against it, or was not seen

  bool enough_steps() const { return steps >= kFewestSteps; }
};

}  // namespace recpack::probe
