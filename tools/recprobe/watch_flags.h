// What all commands that watch a program take and print.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "src/probe/causes/stage_use.h"
#include "src/probe/live/watch.h"
#include "src/probe/steps/trace_summary.h"
#include "tools/recprobe/command.h"
#include "tools/recprobe/report_flag.h"

namespace recpack::tool {

struct WatchFlags {
  double rate = 10;  // samples a second
  bool json = false;
  std::optional<double> fail_above;  // share of step time; none: never
  ReportFlag report;

  std::chrono::nanoseconds interval() const;
};

void AddWatchFlags(CLI::App& command, WatchFlags& flags);
// Of commands that can see what a training surely waits.
void AddFailAbove(CLI::App& command, WatchFlags& flags);

// Prints the verdict: as JSON to stdout, for people to stderr, where it is in no pipe's way. With
// a trace, what it adds up to as well, and of a loader of ours how its stages fare. Returns
// kFinding where the share of input waits is surely above --fail-above.
int ShowVerdict(const probe::Verdict& verdict, const std::optional<probe::LoaderUse>& use,
                const WatchFlags& flags, const probe::TraceSummary* trace = nullptr);

}  // namespace recpack::tool
