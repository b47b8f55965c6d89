// Reads rank and world size from the environment that the launcher sets.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace recpack::train {

enum class Launcher : uint8_t {
  kNone,      // started alone
  kTorchrun,  // RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE; also if set by hand
  kOpenMpi,   // OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE
  kHydra,     // MPICH, Intel MPI: PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS
  kSlurm,     // srun: SLURM_PROCID, SLURM_STEP_NUM_TASKS, SLURM_LOCALID, SLURM_STEP_TASKS_PER_NODE
};
const char* LauncherName(Launcher launcher) noexcept;

// Returns a variable's value, or null, like getenv().
using Environment = std::function<const char*(const char* name)>;

struct LaunchPlace {
  Launcher launcher = Launcher::kNone;
  int rank = 0;
  int size = 1;
  int local_rank = 0;  // among the processes of this machine
  int local_size = 1;
  // Where rank 0 listens, for TcpCollective(). Empty and 0: unknown; MPI needs neither.
  std::string address = {};
  int port = 0;

  // The innermost launcher wins: torchrun may run under srun or mpirun, mpirun in a Slurm job. A
  // shell of salloc or sbatch is not a launch. Throws Error (kInvalidArgument) with the variables
  // that are missing, not numbers, or contradictory.
  //
  // The address is MASTER_ADDR and MASTER_PORT, or the next port if torchrun itself listens there
  // (TORCHELASTIC_USE_AGENT_STORE); RECPACK_PORT takes precedence. Under srun, unset values default
  // to the address of a single-machine job and a port derived from the job number.
  static LaunchPlace FromEnvironment(const Environment& environment);
  static LaunchPlace FromEnvironment();  // of this process

  // Launcher, rank and size only, for programs that only observe. Some launchers (DeepSpeed) do not
  // set the other variables. Throws the same errors for these.
  static LaunchPlace RanksFromEnvironment(const Environment& environment);
};

}  // namespace recpack::train
