// Starts a command to be watched, and tells how it ended.
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
  int exit_code = 0;  // as a shell has it: 128 + signal where one ended it
  int signal = 0;     // 0: none
  // "ended with exit code 3", "was ended by signal 9 (Killed)"
  std::string Text() const;
};

// The exit code that a shell gives where a command could not be started: 127, not found, or 126.
int StartExitCode(const Error& error) noexcept;

// A command in a process group of its own. SIGINT, SIGTERM, SIGHUP and SIGQUIT that this process
// gets are passed on to that group, but for those that are ignored. Where stdin is a terminal and
// this process is in front, the command gets the terminal; where the user stops it (Ctrl-Z), this
// process stops as well.
//
// While the object lives this process adopts descendants of the command whose parents end, and all
// its children are taken for the command's: Wait() reaps them. One at a time in a process; one
// thread.
class ChildCommand {
 public:
  // `environment`: variables that the command gets besides those of this process, or in their
  // place. Throws Error: kNotFound, or another kind where the command is there and cannot be run;
  // see StartExitCode().
  explicit ChildCommand(const std::vector<std::string>& command,
                        const std::vector<std::pair<std::string, std::string>>& environment = {});
  // Leaves it running where it has not ended.
  ~ChildCommand();

  int process() const noexcept;

  // How it ended, once it has; nothing after `timeout`. Descendants may go on.
  std::optional<CommandEnd> Wait(std::chrono::nanoseconds timeout);

  // Whether processes of it are running, the command itself or what it left behind. Nothing where
  // the system cannot tell.
  std::optional<bool> AnyRunning();

  // The signal that was passed on last; 0: none.
  int passed_on() const noexcept;

  // To the command and all its descendants. SIGKILL: returns when they have ended, or
  // after some seconds where they do not.
  void Kill(int signal);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack::probe
