#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "tools/recprobe/watch_flags.h"

namespace recpack::tool {
namespace {

namespace fs = std::filesystem;

struct Flags {
  std::vector<std::string> command;
  WatchFlags watch;
};

// Gone with the object.
class EventFolder {
 public:
  EventFolder() {
    std::string path = fs::temp_directory_path() / "recprobe-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) throw SystemError("cannot make", path, errno);
    path_ = path;
  }
  ~EventFolder() {
    std::error_code code;
    fs::remove_all(path_, code);
  }
  EventFolder(const EventFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

pid_t Start(const std::vector<std::string>& command, const std::string& events) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::setenv("RECPACK_EVENTS", events.c_str(), 1);
  ::execvp(words[0], words.data());
  std::perror(words[0]);
  ::_exit(127);
}

int RunAndWatch(const Flags& flags) {
  const EventFolder events;
  const pid_t pid = Start(flags.command, events.path());
  Watch watch({.roots = {pid}, .events = events.path()});
  auto next = std::chrono::steady_clock::now();
  int status = 0;
  for (;;) {
    watch.Sample();
    if (::waitpid(pid, &status, WNOHANG) == pid) break;
    next += flags.watch.interval();
    std::this_thread::sleep_until(next);
  }
  watch.Sample();
  const int finding = ShowVerdict(Decide(watch.Collected()), flags.watch);
  const int exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return exit_code != 0 ? exit_code : finding;
}

}  // namespace

void AddRun(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand(
      "run", "Start a training and watch it: recprobe run [OPTIONS] -- COMMAND...");
  const auto flags = std::make_shared<Flags>();
  command.add_option("command", flags->command, "The command, behind --.")->required();
  AddWatchFlags(command, flags->watch);
  command.callback([flags, &exit_code] { exit_code = RunAndWatch(*flags); });
}

}  // namespace recpack::tool
