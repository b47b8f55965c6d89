// Summarizes the kernels, copies, calls and ranges of a trace.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/probe/events/event_reader.h"

namespace recpack::probe {

// All calls with one name. Times are in ns.
struct TraceRow {
  std::string name;
  int64_t time = 0;
  uint64_t calls = 0;
  int64_t min = 0;
  int64_t max = 0;
  uint64_t bytes = 0;  // of copies and collectives, if known

  double average() const { return static_cast<double>(time) / static_cast<double>(calls); }
  bool operator==(const TraceRow&) const = default;
};

// Rows are sorted by time, longest first. Names from the 1000th on are joined in the last row.
struct TraceTable {
  std::string title;
  int64_t time = 0;  // sum of all rows
  std::vector<TraceRow> rows;
};

struct DeviceGap {
  int64_t begin = 0;
  int64_t end = 0;
  bool operator==(const DeviceGap&) const = default;
};

// Use of a device from the begin of its first kernel or copy to the end of its last. Concurrent
// activities count once. Times are in ns.
struct DeviceUse {
  // Gaps shorter than 10 us, 100 us, 1 ms, 10 ms, 100 ms, 1 s, and longer ones.
  static constexpr size_t kGapClasses = 7;
  // Returns the upper limit of a class [ns]; nullopt for the last.
  static std::optional<int64_t> GapLimit(size_t gap_class);
  struct GapClass {
    uint64_t gaps = 0;
    int64_t time = 0;
  };

  int process = 0;
  int device = 0;
  int64_t begin = 0;
  int64_t end = 0;
  int64_t kernels = 0;             // at least one kernel ran, including NCCL's
  int64_t compute = 0;             // at least one kernel other than NCCL's ran
  int64_t copies = 0;              // at least one copy or fill ran
  int64_t covered_copies = 0;      // part of `copies` in which a kernel ran
  int64_t uncovered_exchange = 0;  // NCCL's kernels ran and no other
  int64_t idle = 0;                // neither kernel nor copy ran
  std::vector<DeviceGap> longest;  // longest idle gaps, the longest first
  std::array<GapClass, kGapClasses> gaps;

  int64_t duration() const { return end - begin; }
  // Returns the share (0 to 1) of the time in which at least one kernel ran; 0 without any time.
  double utilisation() const;
  // Returns the share of the copies' time in which a kernel ran; 0 without copies.
  double overlap() const;
};

struct TraceSummary {
  // "GPU activities" (kernels, and copies by kind), "NCCL", "CUDA calls", "Ranges", as far as they
  // have rows. Times of nested ranges overlap.
  std::vector<TraceTable> tables;
  std::vector<DeviceUse> devices;  // sorted by process and number
};

// Sums up events in any order and from any source. Events that have not ended do not count. Not
// thread-safe.
class TraceSums {
 public:
  TraceSums();
  ~TraceSums();

  void Add(const std::vector<TimedEvent>& events);
  // Returns the summary and resets the sums. `longest_gaps`: number of gaps to list.
  TraceSummary Take(size_t longest_gaps = 10);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Summarizes all events at once.
TraceSummary Summarise(const std::vector<TimedEvent>& events, size_t longest_gaps = 10);

// Formats a table with columns Time(%), Time, Calls, Avg, Min, Max, Name and at most `rows` rows.
std::string TraceTableText(const TraceTable& table, size_t rows = 25);

}  // namespace recpack::probe
