#include "src/probe/command/watched_process.h"

#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "recpack/base/descriptor.h"
#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/probe/command/pidfd.h"
#include "src/probe/procfs/process_stat.h"
#include "src/probe/procfs/scanner.h"
#include "src/probe/util/kept_file.h"

namespace recpack::probe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookAtProcess{20};

std::string UserName(uint64_t user) {
  passwd entry = {};
  passwd* found = nullptr;
  std::array<char, 4096> buffer = {};
  ::getpwuid_r(static_cast<uid_t>(user), &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr ? std::string(found->pw_name) : format("{}", user);
}

// Returns the number after "NAME:" in /proc/PID/status.
std::optional<uint64_t> StatusNumber(std::string_view status, std::string_view name) {
  Scanner lines(status);
  while (!lines.done()) {
    Scanner line(lines.Line());
    if (line.Word() == name) return line.Number();
  }
  return std::nullopt;
}

Error NotThere(int process) {
  return Error(ErrorKind::kNotFound, format("no process {}", process), {},
               "it may have ended: look for it with `pgrep -f NAME`");
}

}  // namespace

struct WatchedProcess::State {
  State(int number, const WatchedProcessOptions& options)
      : process(number),
        proc(options.proc),
        folder(format("{}/{}", options.proc, number)),
        stat(&files, folder + "/stat", KeptFile::Size::kOneRead) {}

  int process;
  std::string proc;
  std::string folder;
  KeptFiles files{.max_open = 1};
  KeptFile stat;
  Descriptor pidfd;
  std::string name;
  std::string user;
  std::vector<Unseen> unseen;
  std::optional<uint64_t> start;  // distinguishes it from a later process with the same PID
  bool ended = false;

  // Returns nullopt if /proc does not show the process.
  std::optional<ProcessStat> Stat() {
    const auto text = stat.Read();
    return text ? ParseProcessStat(*text) : std::nullopt;
  }
  void Find();
  void FindUser();
  void CompareNetworks();
  bool LooksEnded();
};

void WatchedProcess::State::Find() {
  // kill() fails with EPERM for a process of another user.
  const bool exists = ::kill(process, 0) == 0 || errno == EPERM;
  const auto found = Stat();
  if (!exists && !found) throw NotThere(process);
  if (!found) {
    unseen.push_back({"the process", format("it is hidden ({} is not shown)", folder),
                      "CAP_SYS_PTRACE, the same user, or the group that /proc is mounted for "
                      "(hidepid)"});
    return;
  }
  if (found->state == 'Z') {
    throw Error(ErrorKind::kNotFound, format("process {} ({}) has ended", process, found->name), {},
                "its parent has not waited for it yet");
  }
  name = found->name;
  start = found->start;
  FindUser();
  CompareNetworks();
}

void WatchedProcess::State::FindUser() {
  KeptFile file(&files, folder + "/status", KeptFile::Size::kOneRead);
  const auto text = file.Read();
  if (!text) return;
  const auto leader = StatusNumber(*text, "Tgid:");
  if (leader && *leader != static_cast<uint64_t>(process)) {
    throw Error(ErrorKind::kInvalidArgument,
                format("{} is a thread of process {}", process, *leader), {},
                format("give the process: {}", *leader));
  }
  const auto owner = StatusNumber(*text, "Uid:");
  if (!owner) return;
  user = UserName(*owner);
  if (KeptFile(&files, folder + "/io").Read()) return;
  const std::string reason = format("process {} belongs to user {}", process, user);
  unseen.push_back({"what it reads and writes", reason, "CAP_SYS_PTRACE or the same user"});
  unseen.push_back({"its environment and open files", reason, "CAP_SYS_PTRACE or the same user"});
}

// Network namespaces differ if the process is in a container and recprobe is not.
void WatchedProcess::State::CompareNetworks() {
  std::error_code unknown;
  const auto own = std::filesystem::read_symlink(proc + "/self/ns/net", unknown);
  if (unknown) return;
  const auto its = std::filesystem::read_symlink(folder + "/ns/net", unknown);
  if (unknown || its == own) return;
  unseen.push_back({"its network", "it is in another network namespace than recprobe",
                    format("nsenter --net --target {}, or recprobe in its container", process)});
}

bool WatchedProcess::State::LooksEnded() {
  const auto found = Stat();
  if (found) return found->state == 'Z' || found->state == 'X' || (start && found->start != *start);
  return start || (::kill(process, 0) != 0 && errno == ESRCH);
}

WatchedProcess::WatchedProcess(int process, const WatchedProcessOptions& options)
    : state_(std::make_unique<State>(process, options)) {
  if (process <= 0) {
    throw Error(ErrorKind::kInvalidArgument, format("invalid process number {}", process), {},
                "expected 1 or more");
  }
  // Opened before Find(), so that both refer to the same process.
  if (options.use_pidfd) state_->pidfd = OpenPidfd(process);
  state_->Find();
}

WatchedProcess::~WatchedProcess() = default;

int WatchedProcess::process() const noexcept { return state_->process; }
const std::string& WatchedProcess::name() const noexcept { return state_->name; }
const std::string& WatchedProcess::user() const noexcept { return state_->user; }
const std::vector<Unseen>& WatchedProcess::unseen() const noexcept { return state_->unseen; }

bool WatchedProcess::Wait(std::chrono::nanoseconds timeout) {
  if (state_->ended) return true;
  constexpr std::chrono::hours kForEver{24 * 365};
  const auto until = Clock::now() + std::min<std::chrono::nanoseconds>(timeout, kForEver);
  for (;;) {
    const auto left = std::max<std::chrono::nanoseconds>(until - Clock::now(), Clock::duration(0));
    if (state_->pidfd.get() >= 0) {
      state_->ended = PollPidfd(state_->pidfd, left);
    } else {
      state_->ended = state_->LooksEnded();
      if (!state_->ended) {
        std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, kLookAtProcess));
      }
    }
    if (state_->ended || left.count() == 0) return state_->ended;
  }
}

}  // namespace recpack::probe
