// Sample of operating system counters for a machine and a tree of processes. Counters count from
// the start of the machine, process or device; RatesBetween() (system_rates.h) computes rates from
// two samples. A value that could not be read is missing, never 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace recpack::probe {

using Counter = std::optional<uint64_t>;

// The kernel counts these times in ticks, mostly of 10 ms.
struct CoreTimes {
  int core = 0;
  uint64_t busy_ns = 0;  // all programs and the kernel, including interrupts
  uint64_t idle_ns = 0;  // without iowait
  Counter iowait_ns;     // idle while a task that last ran here waited for a disk; may decrease
  Counter steal_ns;      // taken by other guests of the machine's host
};

// A thread that did not run for 16 samples is read at every fourth sample. For a thread that runs,
// run_ns and run_queue_wait_ns are current; all else is up to 4 samples old.
struct ThreadSample {
  int thread = 0;
  int process = 0;
  std::string name;
  // As in /proc: R running or runnable, S sleeping, D waiting for a disk, Z ended, ... A thread
  // that was woken and waits for a processor may be reported as S for up to 32 samples.
  char state = '?';
  int processor = -1;  // where it last ran
  uint64_t user_ns = 0;
  uint64_t system_ns = 0;
  Counter run_ns;             // user and system, exact
  Counter run_queue_wait_ns;  // runnable, but no processor was free; completed waits only
  Counter block_io_wait_ns;   // waited for a disk
};

struct ProcessIo {
  Counter read_chars;     // bytes of read(2) and the like, from memory or disk
  Counter written_chars;  // the same for write(2)
  Counter read_calls;
  Counter write_calls;
  Counter read_bytes;             // read from storage
  Counter written_bytes;          // dirtied, to be written to storage
  Counter cancelled_write_bytes;  // part of written_bytes that was removed before it was written
};

struct ProcessSample {
  int process = 0;
  int parent = 0;
  int group = 0;
  int session = 0;
  std::string name;
  char state = '?';
  int threads = 0;
  uint64_t start_ticks = 0;  // since boot; identifies the process together with `process`
  uint64_t user_ns = 0;
  uint64_t system_ns = 0;
  uint64_t major_faults = 0;  // page faults that read from storage
  uint64_t resident_bytes = 0;
  Counter private_bytes;  // resident, without files and shared memory
  ProcessIo io;
};

// A whole disk or virtual disk (md and dm count the requests of their disks again).
struct BlockDevice {
  std::string name;
  uint64_t reads = 0;
  uint64_t read_bytes = 0;
  uint64_t read_ns = 0;  // summed over reads
  uint64_t writes = 0;
  uint64_t written_bytes = 0;
  uint64_t write_ns = 0;
  uint64_t busy_ns = 0;      // with at least one request in flight
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

// Time in which some, or all, non-idle tasks waited.
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

// The control group of the first root. Limits are the tightest of the group and its ancestors.
struct CgroupSample {
  std::string path;                      // of the cpu controller's group
  std::optional<double> cpu_limit;       // processors; infinity: none
  std::string cpus;                      // allowed processors, "0-3,8"; empty: unavailable
  std::optional<uint64_t> memory_limit;  // bytes; kNoMemoryLimit: none
  std::optional<uint64_t> memory_used;   // bytes, of the group with the tightest limit
  Counter periods;                       // of the quota
  Counter throttled_periods;             // periods in which the quota was used up
  Counter throttled_ns;                  // summed over processors
  PressureStall pressure;
};

// Counts for the whole machine.
struct PageCacheMisses {
  Counter refaults;      // file pages that were evicted recently and read again
  Counter major_faults;  // mapped files and swap
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
  std::vector<ProcessSample> processes;  // of the tree, sorted by PID
  std::vector<ThreadSample> threads;     // of the tree, sorted by PID and TID
  std::vector<BlockDevice> devices;      // with any request since boot
  std::vector<NetworkInterface> network;
  PressureStall pressure;
  CgroupSample cgroup;
  PageCacheMisses page_cache;
  MemorySample memory;
  std::vector<int> allowed_cores;  // where any thread of the tree may run
  uint64_t tree_cpu_ns = 0;        // since the first sample, with processes that have ended
  uint64_t tree_major_faults = 0;  // the same
  uint64_t own_cpu_ns = 0;         // of the sampling process
};

// Returns samples[last] plus the processes and threads that ended since samples[first], as last
// seen, so that their work up to then counts between the two samples.
SystemSample WithEnded(const std::vector<SystemSample>& samples, size_t first, size_t last);

}  // namespace recpack::probe
