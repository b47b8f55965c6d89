#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "recpack/base/error.h"
#include "recpack/base/folders.h"
#include "src/probe/causes/decide.h"
#include "src/probe/events/event_folder.h"
#include "src/probe/events/profiler_trace.h"
#include "src/probe/evidence/hook_samples.h"
#include "src/probe/evidence/traced_settings.h"
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
  std::vector<probe::TimedEvent> events;
  std::vector<std::string> unseen;
  probe::Job job;
  bool accelerators = true;  // default if unknown
};

Told ReadProfiler(const std::string& path) {
  probe::ProfilerTrace trace = probe::ReadProfilerTrace(path);
  Told told{.events = std::move(trace.events), .unseen = {}, .job = {}};
  told.job.rank = trace.rank;
  told.job.world_size = trace.world_size;
  if (!trace.devices.empty()) told.job.gpus = static_cast<int>(trace.devices.size());
  if (trace.base_time > 0 && !told.events.empty()) {
    told.job.begin = trace.base_time + told.events.front().event.begin;
  }
  return told;
}

// Reads a trace of another profiler, or a folder of event files.
Told Read(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return ReadProfiler(path);
  probe::EventReader reader(path);
  Told told{.events = reader.Poll(), .unseen = reader.damage(), .job = {}};
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

probe::Evidence MakeEvidence(const Told& told, int64_t last) {
  probe::ReportedRanks ranks;
  ranks.Add(told.events);
  probe::ReportedSettings settings;
  settings.Add(told.events);
  probe::GradientExchanges exchanges;
  exchanges.Add(told.events);
  std::vector<probe::InputSettings> inputs = settings.All();
  if (inputs.empty()) inputs = probe::FindTracedSettings(told.events);
  probe::Evidence evidence{
      .trainers = probe::FindSteps(told.events, last),
      .ranks = ranks.All(),
      .settings = std::move(inputs),
      .exchanges = exchanges.Means(),
      .accelerators = told.accelerators,
      .no_steps =
          "the trace has no steps (ProfilerStep#, profiler.step(), NVTX ranges, "
          "tf.profiler.experimental.Trace with step_num) and no batches",
      .unseen = told.unseen};
  probe::SelectTraining(probe::Training::kLongest, evidence);
  return evidence;
}

void RunRead(ReadFlags& flags) {
  CheckReportFlag(flags.report, {});
  Told told = Read(flags.trace);
  int64_t first = INT64_MAX, last = 0;
  for (const probe::TimedEvent& timed : told.events) {
    first = std::min(first, timed.event.begin);
    last = std::max({last, timed.event.begin, timed.event.end});
  }
  const probe::Evidence evidence = MakeEvidence(told, last);
  probe::Verdict verdict = probe::Decide(evidence);
  probe::TraceSummary summary = probe::Summarise(told.events);
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
                                                  .begin = told.events.empty() ? 0 : first,
                                                  .trace = std::move(summary)},
                                                 evidence, std::move(verdict));
  WriteReport(flags.report, report, told.events, 0);
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
