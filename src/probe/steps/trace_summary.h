// What kernels, copies, calls and ranges of a trace add up to.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/probe/events/event_reader.h"

namespace recpack::probe {

// All calls of one name. Times are ns.
struct TraceRow {
  std::string name;
  int64_t time = 0;
  uint64_t calls = 0;
  int64_t min = 0;
  int64_t max = 0;
  uint64_t bytes = 0;  // of copies and collectives, where it is known

  double average() const { return static_cast<double>(time) / static_cast<double>(calls); }
  bool operator==(const TraceRow&) const = default;
};

// The most time first; the names from the 1000th on are one row, the last.
struct TraceTable {
  std::string title;
  int64_t time = 0;  // of all rows
  std::vector<TraceRow> rows;
};

struct DeviceGap {
  int64_t begin = 0;
  int64_t end = 0;
  bool operator==(const DeviceGap&) const = default;
};

// How a device spent the time from its first kernel or copy to the end of its last. What runs at
// once counts once. Times are ns.
struct DeviceUse {
  // Gaps shorter than 10 us, 100 us, 1 ms, 10 ms, 100 ms, 1 s, and longer ones.
  static constexpr size_t kGapClasses = 7;
  // ns, below which the gaps of a class are; nothing of the last.
  static std::optional<int64_t> GapLimit(size_t gap_class);
  struct GapClass {
    uint64_t gaps = 0;
    int64_t time = 0;
  };

  int process = 0;
  int device = 0;
  int64_t begin = 0;
  int64_t end = 0;
  int64_t kernels = 0;             // at least one kernel ran, NCCL's included
  int64_t compute = 0;             // at least one that is not NCCL's
  int64_t copies = 0;              // at least one copy or fill
  int64_t covered_copies = 0;      // of that, while a kernel ran
  int64_t uncovered_exchange = 0;  // NCCL's kernels, while no other ran
  int64_t idle = 0;                // neither kernel nor copy
  std::vector<DeviceGap> longest;  // of the idle time, the longest first
  std::array<GapClass, kGapClasses> gaps;

  int64_t duration() const { return end - begin; }
  // Share (of 1) of the time in which at least one kernel ran; 0 where there is no time.
  double utilisation() const;
  // Share of the copies' time in which a kernel ran; 0 where there are no copies.
  double overlap() const;
};

struct TraceSummary {
  // "GPU activities" (kernels, and copies by kind), "NCCL", "CUDA calls", "Ranges"; those that have
  // rows. Ranges nest, so their times do too.
  std::vector<TraceTable> tables;
  std::vector<DeviceUse> devices;  // by process and number
};

// Adds up events in any order and of any source, as they come. Those that have not ended do not
// count. One thread.
class TraceSums {
 public:
  TraceSums();
  ~TraceSums();

  void Add(const std::vector<TimedEvent>& events);
  // `longest_gaps`: how many are listed. Leaves nothing behind.
  TraceSummary Take(size_t longest_gaps = 10);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The same of all events at once.
TraceSummary Summarise(const std::vector<TimedEvent>& events, size_t longest_gaps = 10);

// Time(%), Time, Calls, Avg, Min, Max, Name; a line each, for people. `rows`: at most so many.
std::string TraceTableText(const TraceTable& table, size_t rows = 25);

}  // namespace recpack::probe
