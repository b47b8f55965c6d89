// report.json (docs/format/report.md), as far as reports are joined and compared by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recpack/base/file.h"
#include "recpack/probe/verdict.h"

namespace recpack {

// What was watched.
struct KeptJob {
  std::string name;
  std::vector<std::string> command;
  std::string host;
  std::string user;
  std::string launch;       // as its launcher calls it; empty: by no name
  std::optional<int> rank;  // nothing: it was no launch of several
  std::optional<int> world_size;
  int process = 0;
  std::optional<int64_t> begin;  // ns since 1970, by its host's clock
  double seconds = 0;            // watched
  std::optional<int> exit_code;
  std::optional<int> gpus;  // that it used; nothing: not known
  std::optional<int> batch_size;
};

// Neighbouring steps of one trainer: means of their times, in seconds.
struct KeptStretch {
  size_t steps = 0;
  double step = 0;
  double input_wait = 0;
  double copies = 0;
  double exchange = 0;
  double device = 0;
  double other = 0;
};

// A stage of the loader that the training waited for.
struct KeptStage {
  std::string name;
  double share = 0;  // of the workers' time
};

struct KeptReport {
  std::string path;
  std::string recprobe;  // the version that wrote it
  KeptJob job;
  Verdict verdict;    // `bottleneck` is kUnknown where a newer version found one that is not known
  std::string cause;  // the bottleneck's name, as it is told
  std::vector<std::vector<KeptStretch>> steps;  // of each trainer that has some, in order of time
  std::vector<KeptStage> stages;

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

}  // namespace recpack
