// Rates between two system samples. A value that is missing in one of them, or a counter that went
// backwards (was reset), is missing here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/probe/procfs/system_sample.h"

namespace recpack::probe {

using Figure = std::optional<double>;

// Shares are of the time between the samples. A core's shares and its idle share add up to 1.
struct CoreRates {
  int core = 0;
  double busy_share = 0;
  Figure iowait_share;
  Figure steal_share;
};

struct ThreadRates {
  int thread = 0;
  int process = 0;
  std::string name;
  char state = '?';    // at the end
  int processor = -1;  // at the end
  double cpu_share = 0;
  Figure run_queue_wait_share;
  Figure block_io_wait_share;
};

struct ProcessRates {
  int process = 0;
  std::string name;
  double cpu_cores = 0;
  double major_faults_per_second = 0;
  Figure read_bytes_per_second;     // from storage
  Figure read_chars_per_second;     // by read(2), from memory or storage
  Figure written_bytes_per_second;  // to storage
};

struct DeviceRates {
  std::string name;
  double reads_per_second = 0;
  double read_bytes_per_second = 0;
  double written_bytes_per_second = 0;
  double busy_share = 0;
  double queue = 0;    // mean number of requests in flight
  Figure ns_per_read;  // missing if nothing was read
};

struct NetworkRates {
  std::string name;
  double received_bytes_per_second = 0;
  double sent_bytes_per_second = 0;
};

struct PressureShare {
  Figure some;
  Figure full;
};

struct PressureShares {
  PressureShare cpu;
  PressureShare io;
  PressureShare memory;
};

// Covers what is in both samples, in the order of the second, and threads and processes that
// started since the first, with all their work.
struct SystemRates {
  double seconds = 0;
  std::vector<CoreRates> cores;
  std::vector<ProcessRates> processes;
  std::vector<ThreadRates> threads;
  std::vector<DeviceRates> devices;
  std::vector<NetworkRates> network;
  PressureShares pressure;
  PressureShares cgroup_pressure;
  double tree_cores = 0;  // processors that the tree kept busy, with processes that have ended
  double own_cores = 0;   // the same for the sampling process
  // Processors that the tree may use but that were busy with other programs, the kernel, or other
  // guests of the host.
  Figure others_cores;
  int allowed_cores = 0;  // number that the tree may use; 0: unknown
  double tree_major_faults_per_second = 0;
  Figure refaults_per_second;  // whole machine
  Figure page_cache_read_bytes_per_second;
  Figure throttled_periods_share;  // of the quota's periods; missing without any
  Figure throttled_cores;          // mean number of processors that waited for the quota
};

// `second` is the later sample. If both have the same time, all rates are missing or 0.
SystemRates RatesBetween(const SystemSample& first, const SystemSample& second);

struct IoPressure {
  double share = 0;     // share of the time in which some task waited for I/O
  const char* of = "";  // "of its control group" or "of the machine"
};

// Prefers the control group's pressure: on the machine, unrelated tasks may wait.
IoPressure FindIoPressure(const SystemRates& system);

}  // namespace recpack::probe
