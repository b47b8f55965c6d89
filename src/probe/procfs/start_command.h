// Starts a program in a process group of its own.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace recpack::probe {

// `mask` becomes its signal mask. `gives_terminal`: its group comes to the front of the terminal at
// stdin; the caller has SIGTTOU blocked. Throws Error as ChildCommand does.
pid_t StartCommand(const std::vector<std::string>& command,
                   const std::vector<std::pair<std::string, std::string>>& environment,
                   const sigset_t& mask, bool gives_terminal);

}  // namespace recpack::probe
