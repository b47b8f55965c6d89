// Joins the other processes of a launch.
#pragma once

#include <string>

#include "src/train/collectives/launch/launch.h"
#include "src/train/run/trainer.h"

namespace recpack::tool {

// Returns a function that joins the processes of the launch; empty for a single process.
train::JoinProcesses JoinLaunched(const train::LaunchPlace& place,
                                  const train::CollectiveOptions& options);

// For a process that fails before it has joined the others, which wait for it: joins them for a
// moment to end their runs with the reason. Does nothing in an MPI job, which its launcher ends.
void TellOtherRanks(const std::string& reason) noexcept;

}  // namespace recpack::tool
