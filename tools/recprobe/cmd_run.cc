#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "recpack/base/error.h"
#include "recpack/probe/child_command.h"
#include "recpack/probe/python_hook.h"
#include "src/base/format.h"
#include "tools/recprobe/live_metrics.h"
#include "tools/recprobe/watch_flags.h"

namespace recpack::tool {
namespace {

namespace fs = std::filesystem;

struct Flags {
  std::vector<std::string> command;
  bool hook = true;
  bool trace = false;
  std::string keep;
  PrometheusFlags prometheus;
  WatchFlags watch;
};

// For the event files. One that nobody named is gone with the object.
class EventFolder {
 public:
  explicit EventFolder(const std::string& kept) : kept_(!kept.empty()) {
    if (kept_) {
      if (fs::exists(kept) && !fs::is_empty(kept)) {
        throw Error(ErrorKind::kInvalidArgument, "is not empty", {.path = kept},
                    "name a new folder: what a program tells is not mixed with another one's");
      }
      fs::create_directories(kept);
      path_ = fs::absolute(kept);
      return;
    }
    const char* folder = std::getenv("TMPDIR");
    std::string path = format("{}/recprobe-XXXXXX", folder == nullptr ? "/tmp" : folder);
    if (::mkdtemp(path.data()) == nullptr) throw SystemError("cannot make", path, errno);
    path_ = path;
  }
  ~EventFolder() {
    std::error_code code;
    if (!kept_) fs::remove_all(path_, code);
  }
  EventFolder(const EventFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  const bool kept_;
};

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

std::vector<std::pair<std::string, std::string>> Environment(const Flags& flags,
                                                             const std::string& events) {
  std::vector<std::pair<std::string, std::string>> variables = {{"RECPACK_EVENTS", events}};
  if (flags.hook) {
    const char* path = std::getenv("PYTHONPATH");
    variables = PreparePythonHook(events, path == nullptr ? "" : path);
  }
  if (flags.trace) {
    const std::string library = InjectedLibrary();
    variables.emplace_back("CUDA_INJECTION64_PATH", library);
    variables.emplace_back("NVTX_INJECTION64_PATH", library);
  }
  return variables;
}

// What stands in the way of seeing steps, as far as it can be known.
std::string NoSteps(const Flags& flags, const std::string& events) {
  if (!flags.hook) return "without the hook a program tells of its steps only if it has our loader";
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    environment.emplace_back(*variable);
  }
  const std::string why = WhyPythonIsNotHooked(flags.command, environment, events);
  return why.empty() ? "the program told of no steps: it has neither our loader nor one that the "
                       "hook in Python knows"
                     : why;
}

int RunAndWatch(const Flags& flags) {
  const EventFolder events(flags.keep);
  const auto environment = Environment(flags, events.path());
  LiveMetrics metrics(flags.prometheus, flags.command.front());
  std::unique_ptr<ChildCommand> child;
  try {
    child = std::make_unique<ChildCommand>(flags.command, environment);
  } catch (const Error& error) {
    std::fprintf(stderr, "recprobe: %s\n", error.what());
    return StartExitCode(error);
  }
  Watch watch({.roots = {child->process()}, .adopter = ::getpid(), .events = events.path()});
  std::optional<CommandEnd> end;
  auto next = std::chrono::steady_clock::now();
  while (!end) {
    watch.Sample();
    metrics.Update(watch);
    next = std::max(next + flags.watch.interval(), std::chrono::steady_clock::now());
    end = child->Wait(next - std::chrono::steady_clock::now());
  }
  watch.Sample();
  Evidence evidence = watch.Collected();
  if (evidence.trainers.empty()) evidence.no_steps = NoSteps(flags, events.path());
  if (end->exit_code != 0) evidence.unseen.push_back(format("the command {}", end->Text()));
  if (child->AnyRunning().value_or(false)) {
    evidence.unseen.push_back(
        "processes that the command left behind still run: what they do from here on is not seen");
  }
  std::optional<std::vector<TimedEvent>> trace;
  if (flags.trace) trace = EventReader(events.path()).Poll();
  const int finding = ShowVerdict(Decide(evidence), flags.watch, trace);
  return end->exit_code != 0 ? end->exit_code : finding;
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
  command.callback([flags, &exit_code] { exit_code = RunAndWatch(*flags); });
}

}  // namespace recpack::tool
