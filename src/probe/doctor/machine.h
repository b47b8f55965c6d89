// What a machine, or the part of it that a container leaves, has for a training, and what of it
// hurts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/probe/gpu/gpu_sampler.h"
#include "src/probe/util/reading.h"

namespace recpack::probe {

inline constexpr uint64_t kUnlimited = UINT64_MAX;

// Limits that are not there are infinite, or kUnlimited.
struct MachineCores {
  Reading<std::string> model;
  Reading<int> online;
  Reading<int> allowed;           // by the affinity mask, cpusets included
  Reading<int> threads_per_core;  // 2: SMT
  Reading<int> numa_nodes;
  Reading<double> limit;  // processors by the quotas of the control group and those around it
  int used = 1;           // as many threads as our loaders take by themselves
  Reading<std::string> governor;
  Reading<std::string> frequency_driver;
  Reading<int> mhz;  // of the first core, now
  Reading<int> most_mhz;
};

struct MachineMemory {
  Reading<uint64_t> total;  // bytes, as all of these
  Reading<uint64_t> available;
  Reading<uint64_t> limit;   // of the control group and those around it
  Reading<uint64_t> locked;  // RLIMIT_MEMLOCK
  Reading<uint64_t> shared;  // size of /dev/shm
  Reading<uint64_t> shared_free;
  Reading<std::string> huge_pages;  // "always", "madvise", "never"
};

struct MachineKernel {
  Reading<std::string> release;
  Reading<uint64_t> open_files;       // RLIMIT_NOFILE, the soft limit
  Reading<uint64_t> most_open_files;  // what the process may raise it to
  Reading<int> perf_event_paranoid;
  Reading<bool> io_uring;  // usable; unavailable says what refuses it
  bool rdma = false;       // there is /dev/infiniband
};

struct MachineStorage {
  std::string path;
  Reading<std::string> mount_point;
  Reading<std::string> file_system;  // "ext4"
  Reading<std::string> source;       // "/dev/vda", "server:/export"
  Reading<std::string> options;      // of the mount and its file system
  Reading<std::string> kind;         // "solid state", "rotating", "network", "memory", ...
  Reading<uint64_t> size;            // bytes
  Reading<uint64_t> free;
};

struct MachineGpus {
  Reading<int> count;
  Reading<std::string> driver;
  Reading<std::string> cuda;  // newest that the driver runs
  std::vector<GpuSample> gpus;
  bool device_files = false;  // there are /dev/nvidia*
};

struct Machine {
  std::string host;
  MachineCores cores;
  MachineMemory memory;
  MachineKernel kernel;
  MachineStorage storage;
  MachineGpus gpus;
};

struct MachineOptions {
  std::string data = ".";  // whose storage is meant
  std::string proc = "/proc";
  std::string sys = "/sys";
  std::string dev = "/dev";
  GpuSamplerOptions gpus = {.patience = std::chrono::seconds(3)};
};

// Needs no rights; what cannot be read says why. Throws nothing. Takes as long as NVML, at most the
// patience of options.gpus.
Machine ReadMachine(const MachineOptions& options = {});

struct MachineFinding {
  bool surely = false;  // it costs time or breaks programs; else it may
  std::string what;
  std::string action;
};

// What hurts, the sure ones first.
std::vector<MachineFinding> FindingsOf(const Machine& machine);

}  // namespace recpack::probe
