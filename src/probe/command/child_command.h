// Runs a command as a child process and reports how it ended.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "recpack/base/error.h"

namespace recpack::probe {

struct CommandEnd {
  int exit_code = 0;  // as in a shell: 128 + signal if a signal ended it
  int signal = 0;     // 0: none
  // "ended with exit code 3", "was ended by signal 9 (Killed)"
  std::string Text() const;
};

// Returns the exit code of a shell for a command that could not be started: 127 (not found) or 126.
int StartExitCode(const Error& error) noexcept;

// A command in its own process group. SIGINT, SIGTERM, SIGHUP and SIGQUIT are forwarded to that
// group unless this process ignores them. If stdin is a terminal and this process is in its
// foreground group, the command gets the terminal; if the user stops the command (Ctrl-Z), this
// process stops as well.
//
// While the object lives, this process adopts orphaned descendants of the command, and all children
// of this process count as the command's: Wait() reaps them. At most one object per process. Not
// thread-safe.
class ChildCommand {
 public:
  // `environment`: variables added to those of this process, or replacing them. Throws Error:
  // kNotFound, or another kind if the command exists but cannot be run; see StartExitCode().
  explicit ChildCommand(const std::vector<std::string>& command,
                        const std::vector<std::pair<std::string, std::string>>& environment = {});
  // Leaves the command running if it has not ended.
  ~ChildCommand();

  int process() const noexcept;

  // Waits for the command's end. Returns nullopt after `timeout`. Descendants may still run.
  std::optional<CommandEnd> Wait(std::chrono::nanoseconds timeout);

  // Tells whether the command or any of its descendants is running. Returns nullopt if the system
  // cannot tell.
  std::optional<bool> AnyRunning();

  // Returns the signal that was forwarded last; 0: none.
  int passed_on() const noexcept;

  // Sends `signal` to the command and all its descendants. For SIGKILL, waits until they have
  // ended, some seconds at most.
  void Kill(int signal);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack::probe
