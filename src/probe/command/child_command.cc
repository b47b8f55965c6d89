#include "src/probe/command/child_command.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include "src/base/format.h"
#include "src/probe/command/forwarded_signals.h"
#include "src/probe/command/pidfd.h"
#include "src/probe/command/start_command.h"
#include "src/probe/procfs/process_stat.h"

namespace recpack::probe {
namespace {

using Clock = std::chrono::steady_clock;

// A pidfd does not report a stop by the terminal, so Wait() polls for it at this interval.
constexpr std::chrono::milliseconds kLookAtChild{50};
constexpr std::chrono::milliseconds kLookWithoutPidfd{5};

constexpr int kNotFoundCode = 127, kCannotRunCode = 126, kSignalCode = 128;

bool IsInFront() noexcept {
  return ::isatty(STDIN_FILENO) != 0 && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
}

CommandEnd ToCommandEnd(int status) noexcept {
  if (WIFSIGNALED(status)) {
    return {.exit_code = kSignalCode + WTERMSIG(status), .signal = WTERMSIG(status)};
  }
  return {.exit_code = WEXITSTATUS(status)};
}

// Makes this process the parent of orphaned descendants.
class Adoption {
 public:
  Adoption() noexcept {
    ::prctl(PR_GET_CHILD_SUBREAPER, &before_);
    works_ = ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
  }
  ~Adoption() { ::prctl(PR_SET_CHILD_SUBREAPER, before_); }
  Adoption(const Adoption&) = delete;

  bool works() const noexcept { return works_; }

 private:
  int before_ = 0;
  bool works_ = false;
};

}  // namespace

std::string CommandEnd::Text() const {
  if (signal == 0) return format("ended with exit code {}", exit_code);
  return format("was ended by signal {} ({})", signal, ::strsignal(signal));
}

int StartExitCode(const Error& error) noexcept {
  return error.kind() == ErrorKind::kNotFound ? kNotFoundCode : kCannotRunCode;
}

struct ChildCommand::State {
  Adoption adoption;
  bool has_terminal = false;
  pid_t process = 0;
  Descriptor pidfd;
  std::optional<SignalForwarding> forwarding;
  std::optional<CommandEnd> end;

  void GiveTerminal(pid_t group) const noexcept {
    if (!has_terminal) return;
    const SignalsBlocked blocked;  // SIGTTOU, as this process may be in the background
    ::tcsetpgrp(STDIN_FILENO, group);
  }

  // Stops this process until a shell continues it, as the command was stopped from its terminal.
  void StopAsWell() const noexcept {
    if (!has_terminal) return;
    GiveTerminal(::getpgrp());
    ::raise(SIGSTOP);
    if (IsInFront()) GiveTerminal(process);  // else it was continued in the background
    ::kill(-process, SIGCONT);
  }

  void Reap() {
    int status = 0;
    for (pid_t it; (it = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
      if (it != process) continue;
      if (WIFSTOPPED(status)) {
        StopAsWell();
      } else {
        end = ToCommandEnd(status);
        GiveTerminal(::getpgrp());
      }
    }
  }
};

ChildCommand::ChildCommand(const std::vector<std::string>& command,
                           const std::vector<std::pair<std::string, std::string>>& environment)
    : state_(std::make_unique<State>()) {
  state_->has_terminal = IsInFront();
  const SignalsBlocked blocked;
  try {
    state_->process = StartCommand(command, environment, blocked.before(), state_->has_terminal);
  } catch (...) {
    state_->GiveTerminal(::getpgrp());
    throw;
  }
  state_->GiveTerminal(state_->process);
  state_->pidfd = OpenPidfd(state_->process);
  state_->forwarding.emplace(state_->process);
}

ChildCommand::~ChildCommand() {
  if (!state_->end) state_->GiveTerminal(::getpgrp());
}

int ChildCommand::process() const noexcept { return state_->process; }

std::optional<CommandEnd> ChildCommand::Wait(std::chrono::nanoseconds timeout) {
  constexpr std::chrono::hours kForEver{24 * 365};
  const Clock::time_point until =
      Clock::now() + std::min<std::chrono::nanoseconds>(timeout, kForEver);
  for (;;) {
    state_->Reap();
    if (state_->end) return state_->end;
    const auto left = until - Clock::now();
    if (left <= left.zero()) return std::nullopt;
    if (state_->pidfd.get() >= 0) {
      PollPidfd(state_->pidfd, std::min<std::chrono::nanoseconds>(left, kLookAtChild));
    } else {
      std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, kLookWithoutPidfd));
    }
  }
}

std::optional<bool> ChildCommand::AnyRunning() {
  state_->Reap();
  if (!state_->end) return true;
  if (!state_->adoption.works()) return std::nullopt;
  // Each descendant is a child of this process, or has a parent that is one.
  siginfo_t info = {};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

int ChildCommand::passed_on() const noexcept { return SignalForwarding::last(); }

// Signals the group at once and descendants outside it one by one. None gets a signal twice, except
// SIGKILL, as programs may treat a second signal differently.
void ChildCommand::Kill(int signal) {
  const pid_t group = state_->end ? 0 : state_->process;
  if (group > 0) ::kill(-group, signal);
  const auto send = [&] {
    const std::vector<int> all = Descendants("/proc", ::getpid());
    for (const int process : all) {
      const bool had = group > 0 && signal != SIGKILL && ::getpgid(process) == group;
      if (!had) ::kill(process, signal);
    }
    return !all.empty();
  };
  // New processes may start in the meantime. Gives up on processes of other users and on those in
  // uninterruptible sleep.
  constexpr int kMostRounds = 2000;
  for (int i = 0; send() && signal == SIGKILL && i < kMostRounds; ++i) {
    state_->Reap();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  state_->Reap();
}

}  // namespace recpack::probe
