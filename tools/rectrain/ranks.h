// The other processes that a launcher has started with this one.
#pragma once

#include <string>

#include "src/train/collectives/launch.h"
#include "src/train/run/trainer.h"

namespace recpack::tool {

// How a training joins those of its launch; empty where it is alone.
train::JoinProcesses JoinLaunched(const train::LaunchPlace& place,
                                  const train::CollectiveOptions& options);

// Of a process that fails before it has joined the others, which wait for it: joins them for a
// moment to end their runs with the reason. Not in a job of MPI, whose launcher ends it.
void TellOtherRanks(const std::string& reason) noexcept;

}  // namespace recpack::tool
