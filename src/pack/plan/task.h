// Part of a pack that one of several processes makes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace recpack::pack {

// Task `number` of `count`, counted from 0.
struct PackTask {
  uint32_t number = 0;
  uint32_t count = 1;
  bool operator==(const PackTask&) const = default;
};

// Returns the value of an environment variable; empty if it is not set.
using TaskEnvironment = std::function<std::string(const char* name)>;

// Parses "I/N", or "auto": the task that the process is by its environment. The first of:
// RECPACK_TASK and RECPACK_TASKS; a Slurm, Grid Engine, LSF or AWS Batch array job; a Kubernetes
// indexed job, with the number of completions in RECPACK_TASKS; a process of Open MPI, MPICH (and
// Intel MPI), srun or torchrun. Throws Error (kInvalidArgument) if the text is neither, if the
// environment has none of these, or if its values contradict each other.
PackTask ParseTask(const std::string& text, const TaskEnvironment& environment);

}  // namespace recpack::pack
