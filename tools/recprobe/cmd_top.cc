#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/base/event_log.h"
#include "recpack/base/temporaries.h"
#include "src/base/format.h"
#include "src/probe/causes/decide.h"
#include "src/probe/command/child_command.h"
#include "src/probe/command/watched_process.h"
#include "src/probe/hook/python_hook.h"
#include "src/probe/live/top_view.h"
#include "src/probe/live/watch.h"
#include "src/probe/util/units.h"
#include "tools/recprobe/command.h"
#include "tools/recprobe/job.h"
#include "tools/recprobe/run_command.h"
#include "tools/recprobe/terminal/hidden_output.h"
#include "tools/recprobe/terminal/screen.h"

namespace recpack::tool {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kSampleEvery(100);
constexpr size_t kVerdictSteps = 2'000;  // the latest, of each trainer

struct TopFlags {
  int pid = 0;
  double interval = 1;  // seconds
  std::vector<std::string> command;
};

// Set by SIGINT and SIGTERM where they are not forwarded to a command. A second one ends this
// program.
volatile std::sig_atomic_t top_is_over = 0;

void EndTopBySignals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    action.sa_handler = [](int) { top_is_over = 1; };
    action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
    ::sigaction(signal, &action, nullptr);
  }
}

// Makes the figures of one view after another.
class View {
 public:
  View(const probe::Watch& watch, std::string what, std::string output)
      : watch_(watch), what_(std::move(what)), output_(std::move(output)) {}

  // Rates of the first view count from here.
  void Begin() {
    before_ = watch_.LastSystem();
    seen_ = EventLog::Now();
  }

  probe::TopFigures Next() {
    probe::Evidence evidence = watch_.Latest(kVerdictSteps);
    const int64_t now = EventLog::Now();
    const probe::SystemSample& system = watch_.LastSystem();
    probe::TopFigures figures{
        .what = what_,
        .seconds = probe::Seconds(now - began_),
        .verdict = probe::Decide(evidence),
        .now = probe::CountSteps(evidence.trainers, seen_, now),
        .rates = before_.time_ns > 0 ? probe::RatesBetween(before_, system) : probe::SystemRates(),
        .processes = system.processes.size(),
        .memory = system.memory,
        .gpus = watch_.Gpus()};
    for (const probe::ProcessSample& process : system.processes) {
      figures.resident += process.resident_bytes;
    }
    if (figures.gpus.empty() && evidence.accelerators) {
      figures.gpus_unseen = "could not be seen: there is no NVIDIA driver that answers";
    }
    if (!output_.empty()) figures.output = LastLines(output_);
    before_ = system;
    seen_ = now;
    return figures;
  }

 private:
  const probe::Watch& watch_;
  const std::string what_, output_;
  const int64_t began_ = EventLog::Now();
  int64_t seen_ = began_;
  probe::SystemSample before_;
};

// What is watched: one of both.
struct Target {
  std::unique_ptr<probe::ChildCommand> child;
  std::unique_ptr<probe::WatchedProcess> process;
  std::optional<probe::CommandEnd> end;  // of the child

  int number() const { return child ? child->process() : process->process(); }
  // Tells whether it ended within `timeout`.
  bool Wait(std::chrono::nanoseconds timeout) {
    if (!child) return process->Wait(timeout);
    end = child->Wait(timeout);
    return end.has_value();
  }
};

// Shows one view after the other until the target ends or the user wants no more. The last view's
// figures are the result.
probe::TopFigures ShowViews(const TopFlags& flags, Target& target, probe::Watch& watch, View& view,
                            const Screen* screen, std::FILE* lines) {
  const auto interval =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(flags.interval));
  watch.Sample();
  view.Begin();
  auto next_sample = Clock::now(), next_view = next_sample + interval;
  for (;;) {
    watch.Sample();
    if (Clock::now() >= next_view) {
      const probe::TopFigures figures = view.Next();
      if (screen != nullptr) {
        const Screen::Size size = screen->size();
        screen->Draw(probe::TopText(figures, size.rows, size.columns));
      } else {
        std::fputs(probe::TopLine(figures).c_str(), lines);
        std::fflush(lines);
      }
      next_view = std::max(next_view + interval, Clock::now());
    }
    next_sample = std::max(next_sample + kSampleEvery, Clock::now());
    if (target.Wait(next_sample - Clock::now()) || top_is_over != 0) break;
    const auto key = screen != nullptr ? screen->Key() : std::nullopt;
    if (key && (*key == 'q' || *key == 'Q')) break;
  }
  watch.LastSample();
  return view.Next();
}

Target StartTarget(const TopFlags& flags, const std::string& events, const std::string& output,
                   int& exit_code) {
  Target target;
  if (flags.command.empty()) {
    target.process = std::make_unique<probe::WatchedProcess>(flags.pid);
    return target;
  }
  const char* path = std::getenv("PYTHONPATH");
  const auto environment = probe::PreparePythonHook(events, path == nullptr ? "" : path);
  std::optional<HiddenStreams> hidden;
  if (!output.empty()) hidden.emplace(output);
  try {
    target.child = std::make_unique<probe::ChildCommand>(flags.command, environment);
  } catch (const Error& error) {
    hidden.reset();
    std::fprintf(stderr, "recprobe: %s\n", error.what());
    exit_code = probe::StartExitCode(error);
  }
  return target;
}

// After the screen is gone: the verdict, and what a failed command said.
void ShowEnd(const Target& target, const probe::TopFigures& last, std::FILE* lines) {
  const bool failed = target.end && target.end->exit_code != 0;
  if (failed) {
    for (const std::string& line : last.output) std::fprintf(stderr, "%s\n", line.c_str());
    std::fprintf(stderr, "recprobe: the command %s\n", target.end->Text().c_str());
  }
  std::fputs(probe::VerdictText(last.verdict).c_str(), lines);
}

int RunTop(const TopFlags& flags) {
  if (flags.command.empty() == (flags.pid == 0)) {
    throw Error(ErrorKind::kInvalidArgument, "what to watch is not clear", {},
                "write --pid NUMBER, or -- and a command");
  }
  const bool of_command = !flags.command.empty();
  const bool drawn = ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0;
  std::optional<ScratchFolder> scratch;
  if (of_command) scratch.emplace();
  const std::string output = of_command && drawn ? scratch->path() + "/output" : std::string();
  if (!of_command) EndTopBySignals();
  int exit_code = kDone;
  Target target = StartTarget(flags, of_command ? scratch->path() : "", output, exit_code);
  if (exit_code != kDone) return exit_code;
  const std::string name =
      of_command ? MakeJob("", flags.command, OwnEnvironment()).name : target.process->name();
  probe::Watch watch({.roots = {target.number()},
                      .adopter = of_command ? ::getpid() : 0,
                      .events = of_command ? scratch->path() : "",
                      .free_events_after = probe::EventReader::kWrittenBack});
  View view(watch, format("{}, process {}", name.empty() ? "program" : name, target.number()),
            output);
  // The command's own output goes to stdout.
  std::FILE* const lines = of_command && !drawn ? stderr : stdout;
  std::optional<Screen> screen;
  if (drawn) screen.emplace(STDIN_FILENO);
  const probe::TopFigures last =
      ShowViews(flags, target, watch, view, screen ? &*screen : nullptr, lines);
  screen.reset();
  const bool ended_here = target.child && !target.end;
  if (ended_here) EndCommand(*target.child);
  ShowEnd(target, last, lines);
  return target.end ? target.end->exit_code : kDone;
}

}  // namespace

void AddTop(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand(
      "top",
      "Show a training while it runs: steps, waits for input, cause, processors, memory, disks, "
      "GPUs. q or Ctrl-C ends it, and a command that it started. Without a terminal it prints a "
      "line each time.");
  command.footer(
      "Examples:\n"
      "  recprobe top -- python train.py\n"
      "  recprobe top --pid 4711\n");
  const auto flags = std::make_shared<TopFlags>();
  command.add_option("command", flags->command, "The command to start, after --.");
  command
      .add_option("--pid", flags->pid,
                  "Process to watch, with its children, in place of a command. Its waits are seen "
                  "if it uses recpack's loader.")
      ->check(Positive());
  command.add_option("--interval", flags->interval, "Seconds from one view to the next.")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 3600.0));
  command.callback([flags, &exit_code] { exit_code = RunTop(*flags); });
}

}  // namespace recpack::tool
