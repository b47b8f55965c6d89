// Starts and ends watched commands.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/probe/command/child_command.h"

namespace recpack::tool {

// Returns nullptr if the command cannot be started: prints the reason to stderr and sets
// `exit_code` as a shell would.
std::unique_ptr<probe::ChildCommand> StartOrTell(
    const std::vector<std::string>& command,
    const std::vector<std::pair<std::string, std::string>>& environment, int& exit_code);

// Tells whether descendants still run `grace` after the command has ended: helpers of its libraries
// may end a moment later.
bool LeavesBehind(probe::ChildCommand& child, std::chrono::nanoseconds grace);

// Ends descendants that still run some time after the command has ended, and says so on stderr:
// they would disturb the next run of an experiment, or keep it from ending.
void EndLeftBehind(probe::ChildCommand& child);

// Sends SIGTERM to the command and its descendants, and SIGKILL to those that still run some
// seconds later.
probe::CommandEnd EndCommand(probe::ChildCommand& child);

}  // namespace recpack::tool
