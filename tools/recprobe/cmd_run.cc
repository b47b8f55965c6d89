#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/event_log.h"
#include "recpack/base/scratch_folder.h"
#include "src/base/format.h"
#include "src/probe/causes/decide.h"
#include "src/probe/events/event_folder.h"
#include "src/probe/hook/python_hook.h"
#include "src/probe/procfs/child_command.h"
#include "tools/recprobe/job.h"
#include "tools/recprobe/live_metrics.h"
#include "tools/recprobe/run_command.h"
#include "tools/recprobe/watch_flags.h"

namespace recpack::tool {
namespace {

namespace fs = std::filesystem;

using Variables = std::vector<std::pair<std::string, std::string>>;

struct Flags {
  std::vector<std::string> command;
  bool hook = true;
  bool trace = false;
  std::string keep;
  PrometheusFlags prometheus;
  WatchFlags watch;
};

// A folder that the user names must be new or empty.
std::string NewFolder(const std::string& path) {
  if (fs::exists(path) && !fs::is_empty(path)) {
    throw Error(ErrorKind::kInvalidArgument, "is not empty", {.path = path},
                "name a new folder: what a program tells is not mixed with another one's");
  }
  fs::create_directories(path);
  return fs::absolute(path);
}

// What CUDA loads into programs that are traced: beside this program where it is installed, or
// where it was built.
std::string InjectedLibrary() {
#if defined(RECPROBE_INJECT)
  const fs::path program = fs::read_symlink("/proc/self/exe");
  const fs::path beside = program.parent_path().parent_path() / RECPROBE_LIBDIR / "recpack" /
                          fs::path(RECPROBE_INJECT).filename();
  if (fs::exists(beside)) return beside;
  if (fs::exists(RECPROBE_INJECT)) return RECPROBE_INJECT;
  throw Error(ErrorKind::kNotFound, "the library that traces is not there", {.path = beside},
              "install recprobe whole, or run it without --trace");
#else
  throw Error(
      ErrorKind::kUnsupported, "this build cannot trace: it was made without CUPTI", {},
      "build where CMake finds cupti.h, or read a trace of another profiler: recprobe read");
#endif
}

// CUDA loads one: the profiler that is asked for already would see nothing, and not say so.
void RefuseOtherProfilers(const std::string& library) {
  for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
    const char* other = std::getenv(name);
    if (other == nullptr || *other == '\0' || other == library) continue;
    throw Error(ErrorKind::kInvalidArgument,
                format("{} asks for another profiler: {}", name, other), {},
                "run it without that one, or without --trace");
  }
}

Variables Environment(const Flags& flags, const std::string& events) {
  Variables variables = {{"RECPACK_EVENTS", events}};
  if (flags.hook) {
    const char* path = std::getenv("PYTHONPATH");
    variables = probe::PreparePythonHook(events, path == nullptr ? "" : path);
  }
  if (flags.trace) {
    const std::string library = InjectedLibrary();
    RefuseOtherProfilers(library);
    variables.emplace_back("CUDA_INJECTION64_PATH", library);
    variables.emplace_back("NVTX_INJECTION64_PATH", library);
  }
  return variables;
}

// What stands in the way of seeing steps, as far as it can be known.
std::string NoSteps(const Flags& flags, const Variables& added, const std::string& events) {
  if (!flags.hook) return "without the hook a program tells of its steps only if it has our loader";
  std::vector<std::string> environment;
  for (const auto& [name, value] : added) environment.push_back(name + "=" + value);
  for (std::string& variable : OwnEnvironment()) environment.push_back(std::move(variable));
  const std::string why = probe::WhyPythonIsNotHooked(flags.command, environment, events);
  return why.empty() ? "the program told of no steps: it has neither our loader nor one that the "
                       "hook in Python knows, or what trains gets another environment than it "
                       "(docker, ssh, another machine)"
                     : why;
}

// A piece at a time: a trace may be larger than the memory.
probe::TraceSummary SummaryOfAll(const std::string& events) {
  constexpr size_t kAtOnce = 1'000'000;
  probe::EventReader reader(events);
  probe::TraceSums sums;
  for (;;) {
    const std::vector<probe::TimedEvent> some = reader.Poll(kAtOnce);
    sums.Add(some);
    if (some.size() < kAtOnce) return sums.Take();
  }
}

// What the program and its libraries told, added up: with --trace all of it, else the latest of it,
// as what is missing would be taken for gaps of the devices.
std::optional<probe::TraceSummary> SummaryOf(const Flags& flags, const std::string& events,
                                             const probe::KeptEvents& kept,
                                             std::vector<std::string>& unseen) {
  if (flags.trace) return SummaryOfAll(events);
  if (!flags.watch.report.wanted()) return {};
  const std::vector<probe::TimedEvent> latest = kept.Latest();
  if (kept.left_out() > 0) {
    unseen.push_back(format(
        "the report's tables and devices are of the last {} events that the program told of: "
        "run it with --keep FOLDER, and `recprobe read FOLDER` adds up all",
        latest.size()));
  }
  return probe::Summarise(latest);
}

// What is known of the program when it has ended.
struct Ended {
  probe::CommandEnd end;
  probe::Evidence evidence;
  probe::Verdict verdict;
  std::optional<probe::TraceSummary> trace;
};

void KeepReport(const Flags& flags, const probe::Watch& watch, probe::ReportParts parts,
                Ended ended) {
  if (!flags.watch.report.wanted()) return;
  parts.job.seconds = static_cast<double>(EventLog::Now() - parts.begin) * 1e-9;
  parts.job.exit_code = ended.end.exit_code;
  parts.timeline = watch.SampledTimeline();
  parts.trace = std::move(*ended.trace);
  const probe::Report report =
      probe::MakeReport(std::move(parts), ended.evidence, std::move(ended.verdict));
  TryToWriteReport(flags.watch.report, report, watch.Events());
}

probe::CommandEnd WatchToItsEnd(const Flags& flags, probe::ChildCommand& child,
                                LiveMetrics& metrics, probe::Watch& watch) {
  std::optional<probe::CommandEnd> end;
  auto next = std::chrono::steady_clock::now();
  while (!end) {
    watch.Sample();
    metrics.Update(watch);
    next = std::max(next + flags.watch.interval(), std::chrono::steady_clock::now());
    end = child.Wait(next - std::chrono::steady_clock::now());
  }
  watch.LastSample();
  return *end;
}

// Where nobody reads them again.
std::optional<std::chrono::seconds> FreeEventsAfter(const Flags& flags) {
  if (flags.trace || !flags.keep.empty()) return {};
  return EventReader::kWrittenBack;
}

int RunAndWatch(const Flags& flags) {
  if (flags.watch.report.wanted()) probe::CheckReportFolder(flags.watch.report.folder);
  std::optional<ScratchFolder> scratch;
  const std::string events = flags.keep.empty() ? scratch.emplace().path() : NewFolder(flags.keep);
  const Variables environment = Environment(flags, events);
  probe::ReportParts parts{.recprobe = RECPACK_VERSION,
                           .job = JobOf(flags.prometheus.job, flags.command, OwnEnvironment()),
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
  Ended ended{.end = WatchToItsEnd(flags, *child, metrics, watch), .evidence = watch.Collected()};
  if (!flags.keep.empty()) probe::KeepAccelerators(events, ended.evidence.accelerators);
  if (ended.evidence.trainers.empty() && ended.evidence.no_steps.empty()) {
    ended.evidence.no_steps = NoSteps(flags, environment, events);
  }
  const int exit_code = ended.end.exit_code;
  std::vector<std::string>& unseen = ended.evidence.unseen;
  for (std::string& line : UnseenOf(parts.job)) unseen.push_back(std::move(line));
  if (exit_code != 0) unseen.push_back(format("the command {}", ended.end.Text()));
  constexpr std::chrono::milliseconds kGrace(300);
  if (LeavesBehind(*child, kGrace)) {
    unseen.emplace_back(
        "processes that the command left behind still run: what they do from here on is not seen");
  }
  ended.trace = SummaryOf(flags, events, watch.Events(), unseen);
  ended.verdict = probe::Decide(ended.evidence);
  parts.ceilings = probe::KeptCeilings();
  const int finding = ShowVerdict(ended.verdict, probe::UseOf(ended.evidence, parts.ceilings),
                                  flags.watch, flags.trace ? &*ended.trace : nullptr);
  KeepReport(flags, watch, std::move(parts), std::move(ended));
  return exit_code != 0 ? exit_code : finding;
}

}  // namespace

void AddRun(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand(
      "run", "Start a training and watch it: recprobe run [OPTIONS] -- COMMAND...");
  const auto flags = std::make_shared<Flags>();
  command.add_option("command", flags->command, "The command, behind --.")->required();
  command.add_flag("!--no-hook", flags->hook,
                   "Leave Python programs as they are: their waits are then not seen.");
  command.add_flag("--trace", flags->trace,
                   "Trace kernels, copies and ranges of CUDA programs, and show what they add up "
                   "to; docs/probe-gpu.md.");
  command.add_option("--keep", flags->keep,
                     "New folder for what the program tells of itself, for `recprobe read`.");
  AddPrometheusFlags(command, flags->prometheus);
  AddWatchFlags(command, flags->watch);
  AddFailAbove(command, flags->watch);
  command.callback([flags, &exit_code] { exit_code = RunAndWatch(*flags); });
}

}  // namespace recpack::tool
