// Verdict on a training: whether it is input-bound, where, and what fixing it would gain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/probe/evidence/bottleneck.h"
#include "src/probe/evidence/code_lines.h"
#include "src/probe/steps/period.h"
#include "src/probe/steps/trace_summary.h"
#include "src/probe/util/estimate.h"
#include "src/probe/util/unseen.h"
#include "src/probe/verdict/cause.h"

namespace recpack::probe {

// Class of a training by the share of step time in which it waits for input while its device is
// idle. The limits are those of TensorFlow's profiler.
enum class Band : uint8_t {
  kUnknown,     // no steps were seen
  kUndecided,   // the interval spans a limit, or there are too few steps
  kNotInput,    // below 5 %
  kModerately,  // 5 to 20 %
  kHighly,      // 20 % and more
};
inline constexpr size_t kBands = 5;

const char* BandName(Band band) noexcept;  // "not input-bound", ...

// Shares of the mean step; they add up to 1.
struct Breakdown {
  double input_wait = 0;     // not covered by device work
  double copies = 0;         // to the device
  double device_copies = 0;  // within a device or between devices
  double exchange = 0;
  double device = 0;
  double other = 0;
};

// Time in which the training thread is in no step, as shares of the time from the first step to the
// last.
struct Beside {
  double share = 0;
  double waits = 0;  // part of `share`: for the input of evaluations
};

struct Verdict {
  static constexpr size_t kFewestSteps = 10;   // needed to decide
  static constexpr double kWorthNaming = 0.1;  // of step time
  static constexpr double kWorthTelling = 0.02;

  Band band = Band::kUnknown;
  Estimate input_share;  // of step time
  // Relative increase of steps per second without input waits: 0.25 is 25 % more. Infinite if the
  // waits may take all of the step time.
  Estimate gain;
  double steps_per_second = 0;   // sum over all trainers, of the time in steps
  std::optional<Beside> beside;  // if it is more than kWorthTelling
  size_t steps = 0;              // counted, of the trainer with the fewest
  size_t left_out = 0;           // warm-up steps of each trainer
  // Some waits may be covered: device work, waits of ranks for each other, or prefetching was not
  // observed.
  bool upper_bound = false;
  std::optional<Period>
      period;  // of a step; only if no steps were reported and device work repeats
  Breakdown breakdown;
  Bottleneck bottleneck = Bottleneck::kUnknown;
  // The rank that all others wait for: its number if processes report theirs, else its index among
  // the trainers.
  std::optional<size_t> rank;
  // The process whose input was judged, of several ranks; nullopt: that of all together.
  std::optional<int> input_of;
  // Ranked by what curing each alone would save. The first one is `bottleneck`; further ones save
  // at least kWorthNaming of step time.
  std::vector<Cause> causes;
  std::vector<std::string> evidence;  // for the bottleneck, strongest first
  std::optional<CodeLine> line;       // the function that the cause comes from, and its line
  std::vector<CodeLine> lines;        // where the program's threads spent their time
  std::string cure;                   // what to do about the bottleneck; empty if nothing
  std::optional<Action> action;       // the one thing to do first
  std::vector<std::string> hints;     // from common rules of thumb, with contrary findings
  std::vector<std::string> notes;     // caveats, and what was not observed

  bool enough_steps() const { return steps >= kFewestSteps; }
};

// One line: what could not be observed, why, and which right is missing.
std::string UnseenText(const Unseen& unseen);

// One screen, 100 columns wide, the verdict first.
std::string VerdictText(const Verdict& verdict);

// One JSON object on one line; docs/reference/verdicts.md lists its members.
std::string VerdictJson(const Verdict& verdict);

// VerdictJson() with the members "devices" and "tables" of a trace. Defined in the report room.
std::string TraceJson(const Verdict& verdict, const TraceSummary& summary);

}  // namespace recpack::probe
