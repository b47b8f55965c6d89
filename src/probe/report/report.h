// What a watch has found, to be kept; docs/format/report.md has its files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recpack/base/file.h"
#include "src/probe/causes/stage_use.h"
#include "src/probe/doctor/ceilings.h"
#include "src/probe/report/timeline.h"
#include "src/probe/steps/trace_summary.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

inline constexpr int kReportVersion = 1;

// What was watched.
struct Job {
  std::string name;
  std::vector<std::string> command;
  std::string host;
  std::string user;
  std::string launch;       // by its launcher's name for it; empty: it has none
  std::optional<int> rank;  // as its launcher says; nothing: no launcher named one
  std::string rank_unseen;  // why it is not known although there may be one; empty otherwise
  std::optional<int> world_size;
  int process = 0;
  std::optional<int64_t> begin;   // ns since 1970
  double seconds = 0;             // watched
  std::optional<int> exit_code;   // nothing: it was not waited for
  std::optional<int> gpus;        // that it used; nothing: not known
  std::optional<int> batch_size;  // of a loader that tells; nothing: not known
};

// Neighbouring steps of one trainer: means of their times, in seconds.
struct StepStretch {
  int64_t begin = 0;  // ns, on the clock of the events
  int64_t end = 0;
  size_t steps = 0;
  double step = 0;
  double longest = 0;
  double input_wait = 0;  // that no device work covers
  double copies = 0;
  double device_copies = 0;  // within devices, and from one to another
  double exchange = 0;
  double device = 0;
  double other = 0;
};

struct StepSeries {
  int process = 0;
  uint32_t lane = 0;
  uint16_t device = Event::kNoDevice;
  TrainerSteps::Source source = TrainerSteps::Source::kTold;
  bool device_seen = false;
  size_t steps = 0;
  std::vector<StepStretch> stretches;
};

// A stage of the loader that the training waited for.
struct StageReport {
  std::string name;
  double share = 0;      // of the workers' time
  Figure rate;           // samples/s, if the workers did nothing else
  Figure ceiling;        // samples/s that the machine can do of it
  Figure ceiling_share;  // rate / ceiling
  std::string next;      // what would help; empty: nothing known
};

struct Explanation {
  std::string figure;
  std::string how;
};

struct Report {
  std::string recprobe;  // the version that wrote it
  Job job;
  Verdict verdict;
  int64_t begin = 0;  // ns, on the clock of steps, timeline and events: their 0 in the files
  std::vector<StepSeries> steps;
  Timeline timeline;
  // Of the program, while its steps ran, that lived at their end: those that did most.
  std::vector<ThreadRates> threads;
  std::vector<ProcessRates> processes;
  std::vector<StageReport> stages;
  std::optional<LoaderUse> loader;  // whose stages they are: what would help, and what if
  TraceSummary trace;
  std::vector<std::string> unseen;  // what could not be seen, and why
  std::vector<Explanation> how;     // each figure was obtained
};

// What is told of a run besides its evidence.
struct ReportParts {
  std::string recprobe;
  Job job;
  int64_t begin = 0;  // CLOCK_MONOTONIC ns: when watching began
  Timeline timeline = {};
  TraceSummary trace = {};
  std::optional<Ceilings> ceilings = {};  // of this machine, where somebody measured them
};

// Puts together what a report shows: thins the steps, adds the devices' work to the timeline, and
// says how each figure was obtained.
Report MakeReport(ReportParts parts, const Evidence& evidence, Verdict verdict);

// report.json: one object.
std::string ReportJson(const Report& report);

// report.html: one page that needs no other file and no network.
std::string ReportPage(const Report& report);

// Where a report will go: throws Error (kInvalidArgument, kNotFound, kIo) where `folder` is there
// and not empty, or cannot be written or made.
void CheckReportFolder(const std::string& folder);

struct ReportFile {
  std::string name;
  std::string text;
};

// All files or none of them, in a folder that is new or empty (a mount point or a link, too). Where
// it has been filled since CheckReportFolder(), by the program itself or by another rank, they go
// into one beside it: FOLDER-PID. Returns where they are. Throws Error (kIo) where the disk is full
// or the folder cannot be written; then nothing is left behind.
std::string WriteReportFiles(FileSystem& files, const std::string& folder,
                             const std::vector<ReportFile>& contents);

}  // namespace recpack::probe
