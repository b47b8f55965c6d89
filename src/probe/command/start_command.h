// Starts a program in its own process group.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace recpack::probe {

// `mask`: signal mask of the program. `gives_terminal`: makes its group the foreground group of the
// terminal at stdin; the caller must have SIGTTOU blocked. Throws Error as ChildCommand().
pid_t StartCommand(const std::vector<std::string>& command,
                   const std::vector<std::pair<std::string, std::string>>& environment,
                   const sigset_t& mask, bool gives_terminal);

}  // namespace recpack::probe
