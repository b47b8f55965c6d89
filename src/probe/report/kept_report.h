// report.json (docs/format/report.md), as far as reports are joined and compared by it.
#pragma once

#include <string>
#include <vector>

#include "recpack/base/file.h"
#include "src/probe/report/report.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

struct KeptReport {
  std::string path;
  std::string recprobe;  // the version that wrote it
  Job job;
  Verdict verdict;    // `bottleneck` is kUnknown where a newer version found one that is not known
  std::string cause;  // the bottleneck's name, as it is told
  std::vector<std::vector<StepStretch>> steps;  // of each trainer that has some, in order of time
  std::vector<StageReport> stages;              // names and shares alone

  // Mean over trainers of what their steps took, in seconds; 0 without steps.
  double StepSeconds() const;
};

// `path`: of the file, or of the folder that it lies in. Throws Error: kNotFound, kIo; kCorrupt
// where it is no report, or no whole one; kUnsupported where it is of another version. Only what a
// report of that version says of itself is believed: shares, times and counts that cannot be are
// refused.
KeptReport ReadReport(FileSystem& files, const std::string& path);

struct LeftOut {
  std::string path;
  std::string reason;
};

struct FoundReports {
  std::vector<KeptReport> reports;  // by path
  std::vector<LeftOut> left_out;
};

// All report.json below a folder. Those that are damaged, and all but the first of copies of one
// report, are left out. Throws Error (kNotFound) where there is no such folder, or no report.json
// in it.
FoundReports FindReports(FileSystem& files, const std::string& folder);

}  // namespace recpack::probe
