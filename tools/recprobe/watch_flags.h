// Flags and output of all commands that watch a program.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "src/probe/live/watch.h"
#include "src/probe/stages/stage_use.h"
#include "src/probe/steps/trace_summary.h"
#include "tools/recprobe/command.h"
#include "tools/recprobe/reports/report_flag.h"

namespace recpack::tool {

struct WatchFlags {
  double rate = 10;  // samples per second
  bool json = false;
  std::optional<double> fail_above;  // share of step time
  ReportFlag report;

  std::chrono::nanoseconds interval() const;
};

void AddWatchFlags(CLI::App& command, WatchFlags& flags);
// Adds --fail-above, for commands that see the waits of a training.
void AddFailAbove(CLI::App& command, WatchFlags& flags);

// Prints the verdict: JSON to stdout, or text to stderr so that it does not mix with the program's
// output. Includes the sums of a trace and the stages of a recpack loader, if there are any.
// Returns kFinding if the share of input waits is surely above --fail-above, else kDone.
int ShowVerdict(const probe::Verdict& verdict, const std::optional<probe::LoaderUse>& use,
                const WatchFlags& flags, const probe::TraceSummary* trace = nullptr);

}  // namespace recpack::tool
