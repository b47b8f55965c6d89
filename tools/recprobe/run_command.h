// Begins and ends commands that are watched.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/probe/procfs/child_command.h"

namespace recpack::tool {

// Null where the command cannot be started: why is said on stderr, and `exit_code` is what a shell
// gives for it.
std::unique_ptr<probe::ChildCommand> StartOrTell(
    const std::vector<std::string>& command,
    const std::vector<std::pair<std::string, std::string>>& environment, int& exit_code);

// Whether descendants still run some time after the command has ended: helpers of its libraries end
// a moment later.
bool LeavesBehind(probe::ChildCommand& child, std::chrono::nanoseconds grace);

// Ends descendants that still run some time after the command has ended, and says so on stderr: in
// an experiment they would disturb what comes next, or go on with it for ever.
void EndLeftBehind(probe::ChildCommand& child);

// Asks the command and its descendants to end (SIGTERM), and makes those that go on after some
// seconds (SIGKILL).
probe::CommandEnd EndCommand(probe::ChildCommand& child);

}  // namespace recpack::tool
