#include <algorithm>
#include <charconv>
#include <csignal>
#include <limits>
#include <memory>
#include <thread>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/event_log.h"
#include "src/base/format.h"
#include "src/probe/causes/decide.h"
#include "src/probe/command/watched_process.h"
#include "src/probe/gpu/gpu_sampler.h"
#include "src/probe/procfs/process_strings.h"
#include "src/probe/util/units.h"
#include "src/probe/verdict/verdict.h"
#include "tools/recprobe/job.h"
#include "tools/recprobe/live_metrics.h"
#include "tools/recprobe/watch_flags.h"

namespace recpack::tool {
namespace {

using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;

constexpr double kSeconds = 30;

struct AttachFlags {
  int pid = 0;
  std::string gpu;     // "all" or a number; empty: use pid
  double seconds = 0;  // 0: kSeconds, or with --prometheus until the program ends
  PrometheusFlags prometheus;
  WatchFlags watch;
};

// Returns the processes that compute on the wanted GPU, or on any. Adds GPUs that do not report
// their processes to `unseen`.
std::vector<int> OnGpus(const std::string& wanted, std::vector<std::string>& unseen) {
  constexpr std::chrono::seconds kPatience{2};
  int number = -1;
  const char* const end = wanted.data() + wanted.size();
  const auto [used, code] = std::from_chars(wanted.data(), end, number);
  if (wanted != "all" && (code != std::errc() || used != end || number < 0)) {
    throw Error(ErrorKind::kInvalidArgument, format("invalid GPU '{}'", wanted), {},
                "write --gpu all, or a number from nvidia-smi");
  }
  probe::GpuSampler sampler({.patience = kPatience});
  if (!sampler.devices()) throw Error(ErrorKind::kUnsupported, sampler.devices().reason());
  if (number >= *sampler.devices()) {
    throw Error(ErrorKind::kNotFound, format("there is no GPU {}", number), {},
                format("there are {}", *sampler.devices()));
  }
  std::vector<int> processes;
  for (const probe::GpuSample& gpu : sampler.Sample()) {
    if (number >= 0 && gpu.device != number) continue;
    if (!gpu.values || !gpu.values->processes) {
      unseen.push_back(format("the processes on GPU {} could not be seen: {}", gpu.device,
                              gpu.values ? gpu.values->processes.reason() : gpu.values.reason()));
      continue;
    }
    for (const probe::GpuProcess& process : *gpu.values->processes)
      processes.push_back(process.pid);
  }
  if (processes.empty() && !unseen.empty()) {
    throw Error(ErrorKind::kUnsupported, unseen.front(), {}, "name the process with --pid");
  }
  std::sort(processes.begin(), processes.end());
  processes.erase(std::unique(processes.begin(), processes.end()), processes.end());
  if (!processes.empty()) return processes;
  throw Error(ErrorKind::kNotFound,
              wanted == "all" ? "no process computes on the GPUs"
                              : format("no process computes on GPU {}", number),
              {}, "start the training first, or let `recprobe run` start it");
}

// Set by SIGINT and SIGTERM: the watch ends and shows its results. A second signal ends this
// program.
volatile std::sig_atomic_t is_over = 0;

void EndWatchBySignals() {
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction action = {};
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = [](int) { is_over = 1; };
    action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
    ::sigaction(signal, &action, nullptr);
  }
}

// The watched processes.
class Watched {
 public:
  explicit Watched(const std::vector<int>& processes) {
    for (const int process : processes) Join(process, process != processes.back());
  }

  // Waits until all have ended, at most for `timeout`. Returns false on timeout.
  bool Wait(std::chrono::nanoseconds timeout) {
    const auto until = Clock::now() + timeout;
    return std::all_of(processes_.begin(), processes_.end(), [&](const auto& process) {
      return process->Wait(std::max(until - Clock::now(), Clock::duration(0)));
    });
  }

  // Waits until all have ended or the user ends the watch, at most until `until`.
  bool WaitOrEnd(Clock::time_point until) {
    constexpr std::chrono::milliseconds kLook{100};
    do {
      if (is_over != 0 || Wait(std::min<Clock::duration>(until - Clock::now(), kLook))) return true;
    } while (Clock::now() < until);
    return is_over != 0;
  }

  const std::vector<int>& numbers() const { return numbers_; }
  // Name and user of the first process.
  const std::string& name() const { return processes_.front()->name(); }
  const std::string& user() const { return processes_.front()->user(); }

  void AddUnseen(std::vector<std::string>& unseen) const {
    for (const auto& process : processes_) {
      for (const probe::Unseen& each : process->unseen()) unseen.push_back(probe::UnseenText(each));
    }
  }

 private:
  // Adds a process. Ignores a process that has ended in the meantime if others are left, else
  // throws.
  void Join(int process, bool others_follow) {
    try {
      processes_.push_back(std::make_unique<probe::WatchedProcess>(process));
      numbers_.push_back(process);
    } catch (const Error& error) {
      const bool is_left = others_follow || !processes_.empty();
      if (!is_left || error.kind() != ErrorKind::kNotFound) throw;
    }
  }

  std::vector<std::unique_ptr<probe::WatchedProcess>> processes_;
  std::vector<int> numbers_;
};

// Describes the job by the first process.
probe::ReportParts MakeParts(const AttachFlags& flags, int pid, const Watched& watched) {
  probe::ReportParts parts{.recprobe = RECPACK_VERSION, .job = {}, .begin = EventLog::Now()};
  parts.job = MakeJob(flags.prometheus.job, probe::ReadCommandLine(pid).value_or(Words{}),
                      probe::ReadEnvironment(pid));
  parts.job.process = pid;
  if (!watched.user().empty()) parts.job.user = watched.user();
  if (parts.job.name.empty()) parts.job.name = watched.name();
  return parts;
}

double WatchSeconds(const AttachFlags& flags) {
  if (flags.seconds > 0) return flags.seconds;
  return flags.prometheus.address.empty() ? kSeconds : std::numeric_limits<double>::infinity();
}

int RunAttach(AttachFlags& flags) {
  std::vector<std::string> unseen;
  Watched watched(flags.gpu.empty() ? std::vector<int>{flags.pid} : OnGpus(flags.gpu, unseen));
  const std::vector<int>& roots = watched.numbers();
  EndWatchBySignals();
  CheckReportFlag(flags.watch.report, probe::ReadCommandLine(roots.front()).value_or(Words{}));
  probe::ReportParts parts = MakeParts(flags, roots.front(), watched);
  LiveMetrics metrics(flags.prometheus, parts.job);
  probe::Watch watch({.roots = roots});
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::duration<double>(WatchSeconds(flags));
  auto next = begin;
  do {
    watch.Sample();
    metrics.Update(watch);
    next = std::max(next + flags.watch.interval(), Clock::now());
  } while (next < end && !watched.WaitOrEnd(next));
  watch.LastSample();
  probe::Evidence evidence = watch.Collected();
  evidence.no_steps = "a program reports steps and waits only if `recprobe run` started it";
  for (std::string& line : unseen) evidence.unseen.push_back(std::move(line));
  watched.AddUnseen(evidence.unseen);
  for (std::string& line : UnseenRank(parts.job)) evidence.unseen.push_back(std::move(line));
  probe::Verdict verdict = probe::Decide(evidence);
  parts.ceilings = probe::KeptCeilings();
  const int finding =
      ShowVerdict(verdict, probe::MakeLoaderUse(evidence, parts.ceilings), flags.watch);
  parts.job.seconds = probe::Seconds(EventLog::Now() - parts.begin);
  parts.timeline = watch.SampledTimeline();
  WriteReport(flags.watch.report, probe::MakeReport(std::move(parts), evidence, std::move(verdict)),
              {}, 0);
  return finding;
}

}  // namespace

void AddAttach(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("attach", "Watch a running program.");
  command.footer(
      "Examples:\n"
      "  recprobe attach --pid 4711 --seconds 60\n"
      "  recprobe attach --gpu all --report report\n");
  const auto flags = std::make_shared<AttachFlags>();
  CLI::Option_group& what = *command.add_option_group("what");
  what.add_option("--pid", flags->pid, "Process to watch, with its children.")->check(Positive());
  what.add_option("--gpu", flags->gpu,
                  "all or a GPU's number: watch the processes that compute there now, with their "
                  "children.");
  what.require_option(1);
  command
      .add_option(
          "--seconds", flags->seconds,
          "Duration of the watch; it ends earlier if the program ends, or at Ctrl-C with the "
          "results so far. Default: 30; with --prometheus until the program ends.")
      ->check(Positive());
  AddPrometheusFlags(command, flags->prometheus);
  AddWatchFlags(command, flags->watch);
  command.callback([flags, &exit_code] { exit_code = RunAttach(*flags); });
}

}  // namespace recpack::tool
