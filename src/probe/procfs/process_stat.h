// The text of /proc/PID/stat and /proc/PID/task/TID/stat; proc(5) has its fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "src/probe/procfs/system_sample.h"

namespace recpack::probe {

// Times are ticks.
struct ProcessStat {
  std::string_view name;  // into the text
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
  int processor = -1;  // -1: a kernel that does not say
  Counter block_io_ticks;
};

// Nothing where the text is not that of a process.
std::optional<ProcessStat> ParseProcessStat(std::string_view text) noexcept;

}  // namespace recpack::probe
