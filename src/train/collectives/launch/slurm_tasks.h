// Reads the numbers of tasks on the nodes of a Slurm step.
#pragma once

#include <optional>
#include <string_view>

namespace recpack::train {

// Returns the number of tasks on node `node`, counted from 0; nullopt if there is no such node.
// `list`: the value of SLURM_STEP_TASKS_PER_NODE, such as "2(x3),1": two each on three nodes, one
// on the fourth. Throws Error (kInvalidArgument) if it is not such a list.
std::optional<int> SlurmTasks(std::string_view list, int node);

}  // namespace recpack::train
