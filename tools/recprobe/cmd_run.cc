#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "recpack/base/error.h"
#include "recpack/probe/child_command.h"
#include "recpack/probe/python_hook.h"
#include "src/base/format.h"
#include "tools/recprobe/watch_flags.h"

namespace recpack::tool {
namespace {

namespace fs = std::filesystem;

struct Flags {
  std::vector<std::string> command;
  bool hook = true;
  std::string keep;
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

std::vector<std::pair<std::string, std::string>> Environment(const Flags& flags,
                                                             const std::string& events) {
  if (!flags.hook) return {{"RECPACK_EVENTS", events}};
  const char* path = std::getenv("PYTHONPATH");
  return PreparePythonHook(events, path == nullptr ? "" : path);
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
  std::unique_ptr<ChildCommand> child;
  try {
    child = std::make_unique<ChildCommand>(flags.command, Environment(flags, events.path()));
  } catch (const Error& error) {
    std::fprintf(stderr, "recprobe: %s\n", error.what());
    return StartExitCode(error);
  }
  Watch watch({.roots = {child->process()},
               .adopter = ::getpid(),
               .events = events.path(),
               .no_events = NoSteps(flags, events.path())});
  std::optional<CommandEnd> end;
  auto next = std::chrono::steady_clock::now();
  while (!end) {
    watch.Sample();
    next = std::max(next + flags.watch.interval(), std::chrono::steady_clock::now());
    end = child->Wait(next - std::chrono::steady_clock::now());
  }
  watch.Sample();
  Evidence evidence = watch.Collected();
  if (end->exit_code != 0) evidence.unseen.push_back(format("the command {}", end->Text()));
  if (child->AnyRunning().value_or(false)) {
    evidence.unseen.push_back(
        "processes that the command left behind still run: what they do from here on is not seen");
  }
  const int finding = ShowVerdict(Decide(evidence), flags.watch);
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
  command.add_option("--keep", flags->keep,
                     "New folder for what the program tells of itself, for `recprobe read`.");
  AddWatchFlags(command, flags->watch);
  command.callback([flags, &exit_code] { exit_code = RunAndWatch(*flags); });
}

}  // namespace recpack::tool
