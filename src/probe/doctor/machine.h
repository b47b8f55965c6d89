// Properties of this machine, or of the part that a container may use, and findings about what
// slows down or breaks training.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/probe/gpu/gpu_sampler.h"
#include "src/probe/util/reading.h"

namespace recpack::probe {

inline constexpr uint64_t kUnlimited = UINT64_MAX;

// A limit that is not set is infinite, or kUnlimited.
struct MachineCores {
  Reading<std::string> model;
  Reading<int> online;
  Reading<int> allowed;           // by affinity mask and cpusets
  Reading<int> threads_per_core;  // 2: SMT
  Reading<int> sockets;
  Reading<int> numa_nodes;
  Reading<double> limit;  // processors, by the quotas of the control group and its parents
  int used = 1;           // default number of threads of recpack's loader
  Reading<std::string> governor;
  Reading<std::string> frequency_driver;
  Reading<int> mhz;  // current clock of the first core
  Reading<int> most_mhz;
};

struct MachineMemory {
  // All sizes in bytes.
  Reading<uint64_t> total;
  Reading<uint64_t> available;
  Reading<uint64_t> limit;   // of the control group and its parents
  Reading<uint64_t> locked;  // RLIMIT_MEMLOCK
  Reading<uint64_t> shared;  // size of /dev/shm
  Reading<uint64_t> shared_free;
  Reading<std::string> huge_pages;  // "always", "madvise", "never"
};

struct MachineKernel {
  Reading<std::string> release;
  Reading<uint64_t> open_files;       // RLIMIT_NOFILE, the soft limit
  Reading<uint64_t> most_open_files;  // the hard limit
  Reading<int> perf_event_paranoid;
  Reading<bool> io_uring;  // usable; else the reason
  bool rdma = false;       // /dev/infiniband exists
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
  Reading<std::string> cuda;  // newest version that the driver supports
  std::vector<GpuSample> gpus;
  std::vector<GpuLink> links;  // between those that answer
  bool device_files = false;   // /dev/nvidiactl exists
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
  std::string data = ".";  // a path on the storage to describe
  std::string proc = "/proc";
  std::string sys = "/sys";
  std::string dev = "/dev";
  GpuSamplerOptions gpus = {.patience = std::chrono::seconds(3)};
};

// Needs no privileges. What cannot be read is unavailable, with the reason. Never throws. Waits for
// NVML for at most options.gpus.patience.
Machine ReadMachine(const MachineOptions& options = {});

struct MachineFinding {
  bool surely = false;  // surely costs time or breaks programs; else it may
  std::string what;
  std::string action;
};

// Returns what slows down or breaks training, the sure findings first.
std::vector<MachineFinding> CheckMachine(const Machine& machine);

// For people, with a headline, 100 columns wide.
std::string MachineText(const Machine& machine);
std::string FindingsText(const std::vector<MachineFinding>& findings);

// One JSON object on one line; docs/reference/doctor.md lists its members. What could not be read
// is {"unavailable": REASON}.
std::string MachineJson(const Machine& machine);

}  // namespace recpack::probe
