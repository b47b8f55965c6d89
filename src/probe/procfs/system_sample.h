// What the operating system tells of a machine and of a tree of processes at one time. Counters
// grow from the start of the machine, process or device on; RatesBetween() (system_rates.h) makes
// rates of two samples. A value that nobody could read is missing, never 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace recpack::probe {

using Counter = std::optional<uint64_t>;

// The kernel counts these times in ticks: mostly 10 ms.
struct CoreTimes {
  int core = 0;
  uint64_t busy_ns = 0;  // of all programs and the kernel, interrupts included
  uint64_t idle_ns = 0;  // without iowait
  Counter iowait_ns;     // idle while a task that last ran here waited for a disk; may step back
  Counter steal_ns;      // taken by other guests of the machine's host
};

// One that did not run for 16 samples is looked at each fourth one. Of one that runs, the times of
// its schedule (run_ns, run_queue_wait_ns) are of the sample, all else is up to 4 samples old.
struct ThreadSample {
  int thread = 0;
  int process = 0;
  std::string name;
  // As in /proc: R runs or could, S sleeps, D waits for a disk, Z ended, ... One that was woken and
  // waits for a processor may be told as S for up to 32 samples.
  char state = '?';
  int processor = -1;  // on which it last ran
  uint64_t user_ns = 0;
  uint64_t system_ns = 0;
  Counter run_ns;             // user and system, exact
  Counter run_queue_wait_ns;  // could run, and no processor was free; complete waits only
  Counter block_io_wait_ns;   // waited for a disk
};

struct ProcessIo {
  Counter read_chars;     // asked of read(2) and its kin, from memory or disk
  Counter written_chars;  // the same of write(2)
  Counter read_calls;
  Counter write_calls;
  Counter read_bytes;             // fetched from storage for it
  Counter written_bytes;          // it caused to be sent to storage
  Counter cancelled_write_bytes;  // of those, removed before they were sent
};

struct ProcessSample {
  int process = 0;
  int parent = 0;
  int group = 0;
  int session = 0;
  std::string name;
  char state = '?';
  int threads = 0;
  uint64_t start_ticks = 0;  // after the machine's start: with `process`, who it is
  uint64_t user_ns = 0;
  uint64_t system_ns = 0;
  uint64_t major_faults = 0;  // accesses to memory that had to be fetched from storage
  uint64_t resident_bytes = 0;
  ProcessIo io;
};

// A whole disk, or what stands for one (md and dm count again what their disks do).
struct BlockDevice {
  std::string name;
  uint64_t reads = 0;
  uint64_t read_bytes = 0;
  uint64_t read_ns = 0;  // summed over reads
  uint64_t writes = 0;
  uint64_t written_bytes = 0;
  uint64_t write_ns = 0;
  uint64_t busy_ns = 0;      // in which at least one request was on its way
  uint64_t weighted_ns = 0;  // summed over requests
};

struct NetworkInterface {
  std::string name;
  uint64_t received_bytes = 0;
  uint64_t received_packets = 0;
  uint64_t received_drops = 0;
  uint64_t sent_bytes = 0;
  uint64_t sent_packets = 0;
  uint64_t sent_drops = 0;
};

// Time in which some, or all, tasks that could work waited.
struct Pressure {
  Counter some_ns;
  Counter full_ns;
};

struct PressureStall {
  Pressure cpu;
  Pressure io;
  Pressure memory;
};

inline constexpr uint64_t kNoMemoryLimit = UINT64_MAX;

// The group of the first root. Limits are the tightest of the group and those around it.
struct CgroupSample {
  std::string path;                      // of the group that limits the processor
  std::optional<double> cpu_limit;       // processors; infinity: none
  std::string cpus;                      // those it may run on, "0-3,8"; empty: unavailable
  std::optional<uint64_t> memory_limit;  // bytes; kNoMemoryLimit: none
  std::optional<uint64_t> memory_used;   // bytes, of the group with the tightest limit
  Counter periods;                       // of the quota
  Counter throttled_periods;             // in which the quota was used up
  Counter throttled_ns;                  // summed over processors
  PressureStall pressure;
};

// Of the whole machine.
struct PageCacheMisses {
  Counter refaults;      // file pages read anew that had been dropped not long ago
  Counter major_faults;  // of mapped files and swap
  Counter read_bytes;    // from block devices
};

struct MemorySample {
  Counter total_bytes;
  Counter available_bytes;  // without swapping
  Counter cached_bytes;     // files
};

struct SystemSample {
  int64_t time_ns = 0;  // CLOCK_MONOTONIC
  std::vector<CoreTimes> cores;
  std::vector<ProcessSample> processes;  // of the tree, by number
  std::vector<ThreadSample> threads;     // of the tree, by process and number
  std::vector<BlockDevice> devices;      // that did something since the machine's start
  std::vector<NetworkInterface> network;
  PressureStall pressure;
  CgroupSample cgroup;
  PageCacheMisses page_cache;
  MemorySample memory;
  std::vector<int> allowed_cores;  // on which a thread of the tree may run
  uint64_t tree_cpu_ns = 0;        // since the first sample, ended processes included
  uint64_t tree_major_faults = 0;  // the same
  uint64_t own_cpu_ns = 0;         // of the process that samples
};

}  // namespace recpack::probe
