// Parses /proc/PID/stat and /proc/PID/task/TID/stat (see proc(5)), and finds descendants by them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/probe/procfs/system_sample.h"

namespace recpack::probe {

// Times are in ticks.
struct ProcessStat {
  std::string_view name;  // points into the parsed text
  char state = '?';
  int parent = 0;
  int group = 0;
  int session = 0;
  uint64_t major_faults = 0;
  uint64_t children_major_faults = 0;
  uint64_t user = 0;
  uint64_t system = 0;
  uint64_t children_user = 0;
  uint64_t children_system = 0;
  int threads = 0;
  uint64_t start = 0;
  uint64_t resident_pages = 0;
  int processor = -1;  // -1: unknown to this kernel
  Counter block_io_ticks;
};

// Returns nullopt if the text is malformed.
std::optional<ProcessStat> ParseProcessStat(std::string_view text) noexcept;

// Returns the descendants of `process` in the folder `proc`, without zombies.
std::vector<int> Descendants(const std::string& proc, int process);

}  // namespace recpack::probe
