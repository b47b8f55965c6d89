// What happened between two samples. What is missing in one of them, or went backwards (a counter
// that began anew), is missing here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/probe/procfs/system_sample.h"

namespace recpack::probe {

using Figure = std::optional<double>;

// Shares: of the time between the samples. A core's add up to 1 with what it was idle.
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
  double queue = 0;    // requests on their way, on average
  Figure ns_per_read;  // missing where nothing was read
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

// In the order of the second sample, of what is in both; threads and processes that began since the
// first are in, with all they did.
struct SystemRates {
  double seconds = 0;
  std::vector<CoreRates> cores;
  std::vector<ProcessRates> processes;
  std::vector<ThreadRates> threads;
  std::vector<DeviceRates> devices;
  std::vector<NetworkRates> network;
  PressureShares pressure;
  PressureShares cgroup_pressure;
  double tree_cores = 0;  // processors that the tree kept busy, ended processes included
  double own_cores = 0;   // the process that samples
  // Processors, of those that the tree may use, that were busy for others: programs, the kernel,
  // and other guests of the machine's host.
  Figure others_cores;
  int allowed_cores = 0;  // how many the tree may use; 0: unknown
  double tree_major_faults_per_second = 0;
  Figure refaults_per_second;  // of the machine
  Figure page_cache_read_bytes_per_second;
  Figure throttled_periods_share;  // of the quota's periods in that time; missing without any
  Figure throttled_cores;          // processors that waited for the quota, on average
};

// `second` is the later one. With no time between them all rates are missing or 0.
SystemRates RatesBetween(const SystemSample& first, const SystemSample& second);

}  // namespace recpack::probe
