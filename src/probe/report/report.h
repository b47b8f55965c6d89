// Report of a watched training, and its files (docs/format/report.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recpack/base/file.h"
#include "src/probe/doctor/ceilings.h"
#include "src/probe/events/event_reader.h"
#include "src/probe/evidence/evidence.h"
#include "src/probe/report/timeline.h"
#include "src/probe/stages/stage_use.h"
#include "src/probe/steps/steps.h"
#include "src/probe/steps/trace_summary.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

inline constexpr int kReportVersion = 1;

// The watched training.
struct Job {
  std::string name;
  std::vector<std::string> command;
  std::string host;
  std::string user;
  std::string launch;       // the launcher's name for the launch; empty if it has none
  std::optional<int> rank;  // set by the launcher
  std::string rank_unseen;  // why the rank could not be determined; empty otherwise
  std::optional<int> world_size;
  int process = 0;
  std::optional<int64_t> begin;   // ns since 1970
  double seconds = 0;             // watched
  bool running = false;           // the report is of the time so far; a later one replaces it
  std::optional<int> exit_code;   // nullopt if recprobe did not wait for it
  std::optional<int> gpus;        // number of GPUs used, if known
  std::optional<int> batch_size;  // reported by a loader, if any
};

// Consecutive steps of one trainer: their mean times in seconds.
struct StepStretch {
  int64_t begin = 0;  // ns, on the clock of the events
  int64_t end = 0;
  size_t steps = 0;
  double step = 0;
  double longest = 0;
  double input_wait = 0;  // not covered by device work
  double copies = 0;
  double device_copies = 0;  // within a device or between devices
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
  Figure ceiling;        // samples/s of bare calls that do the same
  Figure ceiling_share;  // rate / ceiling
  std::string next;      // what would help; empty if nothing is known
};

struct Explanation {
  std::string figure;
  std::string how;
};

struct Report {
  std::string recprobe;  // the version that wrote it
  Job job;
  Verdict verdict;
  int64_t begin = 0;  // ns, on the clock of steps, timeline and events; 0 s in the files
  std::vector<StepSeries> steps;
  Timeline timeline;
  // The busiest ones of the program while its steps ran.
  std::vector<ThreadRates> threads;
  std::vector<ProcessRates> processes;
  std::vector<StageReport> stages;
  std::optional<LoaderUse> loader;  // the loader of `stages`, with advice and predictions
  TraceSummary trace;
  std::vector<std::string> unseen;  // what could not be observed, and why
  std::vector<Explanation> how;     // how each figure was obtained
};

// Parts of a report besides evidence and verdict.
struct ReportParts {
  std::string recprobe;
  Job job;
  int64_t begin = 0;  // of the watch: CLOCK_MONOTONIC, ns
  Timeline timeline = {};
  TraceSummary trace = {};
  std::optional<Ceilings> ceilings = {};  // of this machine, if they were measured
};

// Assembles a report: thins out the steps, adds the devices' work to the timeline, and explains how
// each figure was obtained.
Report MakeReport(ReportParts parts, const Evidence& evidence, Verdict verdict);

// report.json: one object.
std::string ReportJson(const Report& report);

// trace.json: the events by process and thread, device and stream, and the report's timeline as
// counters, in Chrome's trace event format for Perfetto. Times are microseconds since report.begin.
// "otherData" has the number of events left out.
std::string ChromeTrace(const Report& report, const std::vector<TimedEvent>& events,
                        uint64_t events_left_out);

// report.html: a self-contained page, without other files or network access.
std::string ReportPage(const Report& report);

// Checks that a report can be written to `folder`. Throws Error (kInvalidArgument, kNotFound, kIo)
// if it exists and is not empty, or cannot be created or written.
void CheckReportFolder(const std::string& folder);

struct ReportFile {
  std::string name;
  std::string text;
};

// Writes all files or none to a folder that is new or empty (it may be a mount point or a link). If
// the folder was filled since CheckReportFolder(), by the program or by another rank, writes to
// FOLDER-PID instead. `earlier`: the folder that an earlier call returned, in which these files
// replace those of the same name, each atomically; empty: there was none. Returns the folder
// written. Throws Error (kIo) if the disk is full or the folder cannot be written, and then leaves
// nothing behind, or the earlier report.
std::string WriteReportFiles(FileSystem& files, const std::string& folder,
                             const std::vector<ReportFile>& contents,
                             const std::string& earlier = "");

}  // namespace recpack::probe
