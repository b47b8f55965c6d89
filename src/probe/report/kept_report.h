// Reads report.json files (docs/format/report.md), as far as merge and compare need them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/probe/report/report.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

struct KeptReport {
  std::string path;
  std::string recprobe;  // the version that wrote it
  Job job;
  Verdict verdict;    // `bottleneck` is kUnknown if this version does not know the name
  std::string cause;  // name of the bottleneck, as written
  std::vector<std::vector<StepStretch>> steps;  // per trainer with steps, in order of time
  std::vector<StageReport> stages;              // only names and shares

  // Total step time in seconds, mean over trainers; 0 without steps.
  double StepSeconds() const;
};

// `path`: the file, or its folder. Throws Error: kNotFound, kIo; kCorrupt if it is not a report, is
// incomplete, or has impossible shares, times or counts; kUnsupported if it has another version.
KeptReport ReadReport(FileSystem& files, const std::string& path);

struct LeftOut {
  std::string path;
  std::string reason;
};

struct FoundReports {
  std::vector<KeptReport> reports;  // sorted by path
  std::vector<LeftOut> left_out;
};

using ReportReader = std::function<KeptReport(const std::string& path)>;

// Reads reports in this order. Those that cannot be read (`read` throws Error), and copies of the
// same report, go to `left_out`.
FoundReports ReadReports(const std::vector<std::string>& paths, const ReportReader& read);

// Returns the error (kNotFound) for a folder without reports.
Error NoReports(const std::string& folder);

// Reads all report.json files in and below a folder. Damaged ones, and copies of the same report,
// go to `left_out`. Throws Error (kNotFound) if there is no such folder or no report.json in it.
FoundReports FindReports(FileSystem& files, const std::string& folder);

// Reports of one job, sorted by rank; a single one if the job had a single process.
using JobReports = std::vector<KeptReport>;

// Groups reports by job. Ranks belong to one job if name, user and world size are the same, and the
// launcher's name for the launch. Without such a name, command and the folder above the reports'
// folders must be the same. If a rank occurs more than once, its k-th report (by begin on its own
// host) belongs to the k-th job, so that clocks of different hosts are not compared.
std::vector<JobReports> JoinRanks(std::vector<KeptReport> reports);

}  // namespace recpack::probe
