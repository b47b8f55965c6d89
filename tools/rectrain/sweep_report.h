// What a sweep has measured, and how it is kept and printed.
#pragma once

#include <string>
#include <vector>

#include "src/train/run/sweep.h"
#include "tools/json_line.h"

namespace recpack::tool {

struct SweepReport {
  Json setting;  // what was asked for, and of which machine: runs of another one do not fit
  std::string date;
  train::SweepPlan plan;
  std::vector<train::SweepRun> runs;
};

// A case over all its rounds.
struct SweepRow {
  std::vector<std::string> names;
  train::StepTiming timing;  // medians
  double ratio = 0;          // of samples a second, to the first row that was timed
  std::string error = {};
};

std::vector<SweepRow> RowsOf(const SweepReport& report);

// With every run, so that a sweep can go on.
Json JsonOf(const SweepReport& report);
// The runs that a file has, without those that failed. Throws Error (kInvalidArgument) where it is
// no sweep, or one of another setting.
std::vector<train::SweepRun> ReadRuns(const std::string& path, const SweepReport& report);

// A table for README files, what all rows have in common below it, and what was left out.
std::string MarkdownOf(const SweepReport& report);
// A picture (SVG) with a bar of samples a second for each row.
std::string PlotOf(const SweepReport& report);

}  // namespace recpack::tool
