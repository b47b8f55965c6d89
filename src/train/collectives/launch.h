// Which of how many processes this one is, as its launcher says in the environment.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace recpack::train {

enum class Launcher : uint8_t {
  kNone,      // started alone
  kTorchrun,  // RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE; also those set by hand
  kOpenMpi,   // OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE
  kHydra,     // MPICH, Intel MPI: PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS
  kSlurm,     // srun: SLURM_PROCID, SLURM_STEP_NUM_TASKS, SLURM_LOCALID, SLURM_STEP_TASKS_PER_NODE
};
const char* LauncherName(Launcher launcher) noexcept;

// A variable's value, or null. As getenv().
using Environment = std::function<const char*(const char* name)>;

struct LaunchPlace {
  Launcher launcher = Launcher::kNone;
  int rank = 0;
  int size = 1;
  int local_rank = 0;  // among the processes of this machine
  int local_size = 1;
  // Where rank 0 listens, for TcpCollective(). Empty and 0: not said; MPI needs neither.
  std::string address = {};
  int port = 0;

  // The innermost launcher counts: torchrun may run under srun or mpirun, mpirun in a job of Slurm.
  // A shell of salloc or sbatch is no launch. Throws Error (kInvalidArgument) that names the
  // variables if some are missing, are no numbers, or contradict each other.
  //
  // The address is MASTER_ADDR and MASTER_PORT, or the next port where torchrun itself listens
  // there (TORCHELASTIC_USE_AGENT_STORE); RECPACK_PORT goes before. Under srun, the address of a
  // job of one machine and a port made of the job's number stand in for what is not set.
  static LaunchPlace FromEnvironment(const Environment& environment);
  static LaunchPlace FromEnvironment();  // of this process

  // Launcher, rank and size alone: what somebody who only looks on needs. Other launchers than ours
  // leave out some of the rest (DeepSpeed). The same errors of these.
  static LaunchPlace RanksFromEnvironment(const Environment& environment);
};

}  // namespace recpack::train
