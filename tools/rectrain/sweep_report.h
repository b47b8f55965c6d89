// Results of a sweep: storage and printing.
#pragma once

#include <string>
#include <vector>

#include "src/train/run/sweep.h"
#include "tools/json_line.h"

namespace recpack::tool {

struct SweepReport {
  Json setting;  // the options and the machine; runs with another setting are rejected
  std::string date;
  train::SweepPlan plan;
  std::vector<train::SweepRun> runs;
};

// A case over all its rounds.
struct SweepRow {
  std::vector<std::string> names;
  train::StepTiming timing;  // medians
  double ratio = 0;          // samples per second relative to the first timed row
  std::string error = {};
};

std::vector<SweepRow> ToRows(const SweepReport& report);

// Includes every run, so that a sweep can be resumed.
Json ToJson(const SweepReport& report);
// Reads the successful runs of a file. Throws Error (kInvalidArgument) if it is not a sweep, or has
// another setting.
std::vector<train::SweepRun> ReadRuns(const std::string& path, const SweepReport& report);

// A table for README files, followed by what all rows have in common and the omitted cases.
std::string ToMarkdown(const SweepReport& report);
// An SVG bar chart of samples per second, one bar per row.
std::string DrawPlot(const SweepReport& report);

}  // namespace recpack::tool
