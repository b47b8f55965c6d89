#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/event_log.h"
#include "recpack/base/temporaries.h"
#include "src/base/format.h"
#include "src/probe/causes/decide.h"
#include "src/probe/command/child_command.h"
#include "src/probe/events/event_folder.h"
#include "src/probe/gpu/accelerators.h"
#include "src/probe/hook/python_hook.h"
#include "src/probe/util/units.h"
#include "tools/recprobe/job.h"
#include "tools/recprobe/live_metrics.h"
#include "tools/recprobe/reports/interim_reports.h"
#include "tools/recprobe/run_command.h"
#include "tools/recprobe/watch_flags.h"

namespace recpack::tool {
namespace {

namespace fs = std::filesystem;

using Variables = std::vector<std::pair<std::string, std::string>>;

struct RunFlags {
  std::vector<std::string> command;
  bool hook = true;
  bool trace = false;
  std::string keep;
  double report_every = 0;  // seconds; 0: at the end only
  PrometheusFlags prometheus;
  WatchFlags watch;
};

// Creates a folder that must not exist, or be empty. Returns its absolute path.
std::string MakeNewFolder(const std::string& path) {
  if (fs::exists(path) && !fs::is_empty(path)) {
    throw Error(ErrorKind::kInvalidArgument, "is not empty", {.path = path},
                "name a new folder: events of different programs must not be mixed");
  }
  fs::create_directories(path);
  return fs::absolute(path);
}

// Path of the library that CUDA loads into traced programs: installed beside this program, or in
// the build folder. Empty without GPUs in a build without CUPTI: there is nothing for it to trace.
std::string InjectedLibrary() {
#if defined(RECPROBE_INJECT)
  const fs::path program = fs::read_symlink("/proc/self/exe");
  const fs::path beside = program.parent_path().parent_path() / RECPROBE_LIBDIR / "recpack" /
                          fs::path(RECPROBE_INJECT).filename();
  if (fs::exists(beside)) return beside;
  if (fs::exists(RECPROBE_INJECT)) return RECPROBE_INJECT;
  throw Error(ErrorKind::kNotFound, "the tracing library is missing", {.path = beside},
              "install all of recprobe, or run it without --trace");
#else
  if (!probe::AnyAccelerator()) return {};
  throw Error(
      ErrorKind::kUnsupported, "this build cannot trace: it was built without CUPTI", {},
      "build it where CMake finds cupti.h, or read another profiler's trace: recprobe read");
#endif
}

// Refuses to replace another profiler: CUDA loads only one, and the other one would silently see
// nothing.
void RefuseOtherProfilers(const std::string& library) {
  for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
    const char* other = std::getenv(name);
    if (other == nullptr || *other == '\0' || other == library) continue;
    throw Error(ErrorKind::kInvalidArgument,
                format("{} requests another profiler: {}", name, other), {},
                "run the program without that profiler, or without --trace");
  }
}

Variables Environment(const RunFlags& flags, const std::string& events) {
  Variables variables = {{"RECPACK_EVENTS", events}};
  if (flags.hook) {
    const char* path = std::getenv("PYTHONPATH");
    variables = probe::PreparePythonHook(events, path == nullptr ? "" : path);
  }
  if (flags.trace) {
    const std::string library = InjectedLibrary();
    RefuseOtherProfilers(library);
    variables.emplace_back("RECPACK_EVENTS_DETAIL", "operations");
    if (!library.empty()) {
      variables.emplace_back("CUDA_INJECTION64_PATH", library);
      variables.emplace_back("NVTX_INJECTION64_PATH", library);
    }
  }
  return variables;
}

// Explains why no steps were reported, as far as it can be determined.
std::string NoSteps(const RunFlags& flags, const Variables& added, const std::string& events) {
  if (!flags.hook)
    return "without the hook a program reports steps only if it has recpack's loader";
  std::vector<std::string> environment;
  for (const auto& [name, value] : added) environment.push_back(name + "=" + value);
  for (std::string& variable : OwnEnvironment()) environment.push_back(std::move(variable));
  const std::string why = probe::WhyPythonIsNotHooked(flags.command, environment, events);
  return why.empty()
             ? "the program reported no steps: it has neither recpack's loader nor one that "
               "the Python hook supports, or the training process gets another environment "
               "(docker, ssh, another machine)"
             : why;
}

// Sums up all events, a part at a time: a trace may be larger than the memory.
probe::TraceSummary SumUpAll(const std::string& events) {
  probe::TraceSums sums;
  probe::EventReader(events).PollParts(
      [&](const std::vector<probe::TimedEvent>& part) { sums.Add(part); });
  return sums.Take();
}

// Sums up the events: all with --trace, else the latest ones, as missing events would look like
// gaps of the devices. Returns nullopt if no summary is needed.
std::optional<probe::TraceSummary> SumUp(const RunFlags& flags, const std::string& events,
                                         const probe::KeptEvents& kept,
                                         std::vector<std::string>& unseen) {
  if (flags.trace) return SumUpAll(events);
  if (!flags.watch.report.wanted()) return {};
  const std::vector<probe::TimedEvent> latest = kept.Latest();
  if (kept.left_out() > 0) {
    unseen.push_back(format(
        "the report's tables and devices cover only the last {} events: to sum up all, run with "
        "--keep FOLDER and then `recprobe read FOLDER`",
        latest.size()));
  }
  return probe::Summarise(latest);
}

// Results after the program has ended.
struct Ended {
  probe::CommandEnd end;
  probe::Evidence evidence;
  probe::Verdict verdict;
  std::optional<probe::TraceSummary> trace;
};

void KeepReport(const RunFlags& flags, const probe::Watch& watch, probe::ReportParts parts,
                const std::string& interim, Ended ended) {
  if (!flags.watch.report.wanted()) return;
  parts.job.seconds = probe::Seconds(EventLog::Now() - parts.begin);
  parts.job.exit_code = ended.end.exit_code;
  parts.timeline = watch.SampledTimeline();
  parts.trace = std::move(*ended.trace);
  const probe::Report report =
      probe::MakeReport(std::move(parts), ended.evidence, std::move(ended.verdict));
  TryToWriteReport(flags.watch.report, report, watch.Events(), interim);
}

probe::CommandEnd WatchToItsEnd(const RunFlags& flags, probe::ChildCommand& child,
                                LiveMetrics& metrics, InterimReports& interim,
                                probe::Watch& watch) {
  std::optional<probe::CommandEnd> end;
  auto next = std::chrono::steady_clock::now();
  while (!end) {
    watch.Sample();
    metrics.Update(watch);
    interim.Update(watch);
    next = std::max(next + flags.watch.interval(), std::chrono::steady_clock::now());
    end = child.Wait(next - std::chrono::steady_clock::now());
  }
  watch.LastSample();
  return *end;
}

// Frees events early unless they are read again later.
std::optional<std::chrono::seconds> FreeEventsAfter(const RunFlags& flags) {
  if (flags.trace || !flags.keep.empty()) return {};
  return probe::EventReader::kWrittenBack;
}

int RunAndWatch(RunFlags& flags) {
  CheckReportFlag(flags.watch.report, flags.command);
  std::optional<ScratchFolder> scratch;
  const std::string events =
      flags.keep.empty() ? scratch.emplace().path() : MakeNewFolder(flags.keep);
  const Variables environment = Environment(flags, events);
  probe::ReportParts parts{.recprobe = RECPACK_VERSION,
                           .job = MakeJob(flags.prometheus.job, flags.command, OwnEnvironment()),
                           .begin = EventLog::Now()};
  LiveMetrics metrics(flags.prometheus, parts.job);
  int not_started = kDone;
  const auto child = StartOrTell(flags.command, environment, not_started);
  if (!child) return not_started;
  parts.job.process = child->process();
  probe::Watch watch({.roots = {child->process()},
                      .adopter = ::getpid(),
                      .events = events,
                      .free_events_after = FreeEventsAfter(flags),
                      .most_events = flags.watch.report.most_events()});
  InterimReports interim(flags.watch.report, flags.report_every, parts);
  Ended ended{.end = WatchToItsEnd(flags, *child, metrics, interim, watch),
              .evidence = watch.Collected()};
  if (!flags.keep.empty()) probe::KeepAccelerators(events, ended.evidence.accelerators);
  if (ended.evidence.trainers.empty() && ended.evidence.no_steps.empty()) {
    ended.evidence.no_steps = NoSteps(flags, environment, events);
  }
  const int exit_code = ended.end.exit_code;
  std::vector<std::string>& unseen = ended.evidence.unseen;
  for (std::string& line : UnseenRank(parts.job)) unseen.push_back(std::move(line));
  if (exit_code != 0) unseen.push_back(format("the command {}", ended.end.Text()));
  constexpr std::chrono::milliseconds kGrace(300);
  if (LeavesBehind(*child, kGrace)) {
    unseen.emplace_back("processes left by the command are still running and no longer watched");
  }
  ended.trace = SumUp(flags, events, watch.Events(), unseen);
  ended.verdict = probe::Decide(ended.evidence);
  parts.ceilings = probe::KeptCeilings();
  const int finding =
      ShowVerdict(ended.verdict, probe::MakeLoaderUse(ended.evidence, parts.ceilings), flags.watch,
                  flags.trace ? &*ended.trace : nullptr);
  KeepReport(flags, watch, std::move(parts), interim.Finish(), std::move(ended));
  return exit_code != 0 ? exit_code : finding;
}

}  // namespace

void AddRun(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand(
      "run", "Start a training and watch it: recprobe run [OPTIONS] -- COMMAND...");
  command.footer(
      "Examples:\n"
      "  recprobe run -- python train.py\n"
      "  recprobe run --report report --fail-above 5% -- torchrun --nproc-per-node 2 train.py\n"
      "  recprobe run --trace --keep events -- rectrain train shards/cifar10\n");
  const auto flags = std::make_shared<RunFlags>();
  command.add_option("command", flags->command, "The command, after --.")->required();
  command.add_flag("!--no-hook", flags->hook,
                   "Do not load the hook into Python programs: their waits are not seen then.");
  command.add_flag("--trace", flags->trace,
                   "Trace kernels, copies and ranges of CUDA programs, and the operations of "
                   "rectrain's CPU devices, and show their sums; see docs/reference/probe-gpu.md.");
  command.add_option("--keep", flags->keep,
                     "New folder to keep the program's events in, for `recprobe read`.");
  AddPrometheusFlags(command, flags->prometheus);
  AddWatchFlags(command, flags->watch);
  command
      .add_option("--report-every", flags->report_every,
                  "Write report.html and report.json already while the program runs, every so many "
                  "seconds, for `recprobe merge --watch`; less often where that would take more "
                  "than 0.2 % of a core.")
      ->needs("--report")
      ->check(CLI::Range(0.1, 86400.0));
  AddFailAbove(command, flags->watch);
  command.callback([flags, &exit_code] { exit_code = RunAndWatch(*flags); });
}

}  // namespace recpack::tool
