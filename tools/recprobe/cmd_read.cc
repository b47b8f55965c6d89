#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "recpack/base/error.h"
#include "recpack/base/folders.h"
#include "src/probe/causes/decide.h"
#include "src/probe/events/event_folder.h"
#include "src/probe/events/kept_events.h"
#include "src/probe/events/profiler_trace.h"
#include "src/probe/evidence/event_evidence.h"
#include "src/probe/evidence/traced_settings.h"
#include "src/probe/steps/step_collector.h"
#include "src/probe/steps/trace_summary.h"
#include "src/probe/util/units.h"
#include "src/probe/verdict/verdict.h"
#include "tools/recprobe/command.h"
#include "tools/recprobe/reports/report_flag.h"
#include "tools/recprobe/trace_show.h"

namespace recpack::tool {
namespace {

struct ReadFlags {
  std::string trace;
  size_t rows = 25;
  bool json = false;
  ReportFlag report;
  std::string job;
};

struct Told {
  probe::TraceEvents events;
  std::vector<std::string> unseen;
  probe::Job job;
  bool accelerators = true;  // default if unknown
};

Told ReadProfiler(const std::string& path) {
  Told told;
  const probe::ProfilerTrace trace = probe::ReadProfilerTrace(path, told.events);
  told.job.rank = trace.rank;
  told.job.world_size = trace.world_size;
  if (!trace.devices.empty()) told.job.gpus = static_cast<int>(trace.devices.size());
  if (trace.base_time > 0 && !told.events.empty()) {
    told.job.begin = trace.base_time + told.events.first();
  }
  return told;
}

// Reads a trace of another profiler, or a folder of event files.
Told Read(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return ReadProfiler(path);
  Told told;
  probe::EventReader reader(path);
  reader.PollParts([&](const std::vector<probe::TimedEvent>& part) {
    for (const probe::TimedEvent& event : part) told.events.Add(event);
  });
  told.unseen = reader.damage();
  if (told.events.empty()) {
    throw Error(ErrorKind::kNotFound, "has no events", {.path = path},
                "name a folder that `recprobe run --keep` wrote, or a trace of another profiler");
  }
  for (const auto& lines : {probe::ReadNotices(path), probe::ReadLosses(path)}) {
    told.unseen.insert(told.unseen.end(), lines.begin(), lines.end());
  }
  told.accelerators = probe::KeptAccelerators(path).value_or(true);
  return told;
}

// Accounts for events in order of time, and holds the latest ones only.
class Reading {
 public:
  // `most_kept`: events that are kept for a report.
  explicit Reading(size_t most_kept) : told_(most_kept) {}

  void Add(std::vector<probe::TimedEvent>& events) {
    const int64_t now = events.back().event.begin;
    told_.Add(events);
    traced_settings_.Add(events);
    sums_.Add(events);
    sums_.Settle(now);
    steps_.Add(std::move(events));
  }

  // `last`: the end of the trace.
  probe::Evidence Collected(const Told& told, int64_t last) const {
    probe::Evidence evidence{
        .trainers = steps_.Trainers(last),
        .accelerators = told.accelerators,
        .no_steps =
            "the trace has no steps (ProfilerStep#, profiler.step(), NVTX ranges, "
            "tf.profiler.experimental.Trace with step_num) and no batches",
        .unseen = told.unseen};
    told_.AddTo(evidence);
    if (evidence.settings.empty()) evidence.settings = traced_settings_.All();
    probe::SelectTraining(probe::Training::kLongest, evidence);
    return evidence;
  }

  probe::TraceSummary TakeSummary() { return sums_.Take(); }
  const probe::KeptEvents& kept() const noexcept { return told_.kept(); }

 private:
  static constexpr size_t kMostOpen = 250'000;  // events that are not accounted for yet, about

  probe::EventEvidence told_;
  probe::TracedSettings traced_settings_;
  probe::TraceSums sums_;
  probe::StepCollector steps_{kMostOpen};
};

void RunRead(ReadFlags& flags) {
  CheckReportFlag(flags.report, {});
  Told told = Read(flags.trace);
  Reading reading(flags.report.most_events());
  told.events.ForBatches([&](std::vector<probe::TimedEvent>& events) { reading.Add(events); });
  const int64_t first = told.events.first(), last = told.events.last();
  const probe::Evidence evidence = reading.Collected(told, last);
  probe::Verdict verdict = probe::Decide(evidence);
  probe::TraceSummary summary = reading.TakeSummary();
  if (flags.json) {
    std::printf("%s\n", probe::TraceJson(verdict, summary).c_str());
  } else {
    std::printf("%s%s", probe::VerdictText(verdict).c_str(),
                TraceText(summary, flags.rows).c_str());
  }
  if (!flags.report.wanted()) return;
  told.job.name = flags.job.empty() ? PlainPath(flags.trace).filename().string() : flags.job;
  told.job.seconds = probe::Seconds(std::max<int64_t>(0, last - first));
  const probe::Report report = probe::MakeReport({.recprobe = RECPACK_VERSION,
                                                  .job = std::move(told.job),
                                                  .begin = first,
                                                  .trace = std::move(summary)},
                                                 evidence, std::move(verdict));
  WriteReport(flags.report, report, reading.kept().All(), reading.kept().left_out());
}

}  // namespace

void AddRead(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand(
      "read", "Analyse a trace as `run` does: verdict, kernels, copies, gaps of the devices.");
  command.footer(
      "Examples:\n"
      "  recprobe read trace.json.gz\n"
      "  recprobe read profile.sqlite --report report\n"
      "  recprobe read events --json\n");
  const auto flags = std::make_shared<ReadFlags>();
  command
      .add_option(
          "trace", flags->trace,
          "A trace of PyTorch's profiler (.json, .json.gz), of Nsight Systems (.sqlite), of "
          "the profiler of TensorFlow or JAX (.xplane.pb), or a folder of event files.")
      ->required();
  command.add_option("--rows", flags->rows, "Rows per table in text output.")
      ->capture_default_str();
  command.add_flag("--json", flags->json, "Print one JSON object.");
  AddReportFlag(command, flags->report);
  command.add_option("--job", flags->job, "Name of the job in the report. Default: the trace.");
  command.callback([flags, &exit_code] {
    RunRead(*flags);
    exit_code = kDone;
  });
}

}  // namespace recpack::tool
