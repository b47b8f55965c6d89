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
  // Class of operation (src/probe/events/operation_class.h) of device activities; else empty.
  std::string operation = {};

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

  // Numbers of kernels at once that are distinguished: 0 to 15, and 16 or more.
  static constexpr size_t kMostAtOnce = 16;

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
  int64_t kernel_times = 0;        // sum of all kernels' times
  // Time in which exactly n kernels ran, including NCCL's, by n; as long as the largest n.
  std::vector<int64_t> at_once;
  size_t streams = 0;              // that kernels ran on
  std::vector<DeviceGap> longest;  // longest idle gaps, the longest first
  std::array<GapClass, kGapClasses> gaps;

  int64_t duration() const { return end - begin; }
  // Returns the share (0 to 1) of the time in which at least one kernel ran; 0 without any time.
  double utilisation() const;
  // Returns the share of the copies' time in which a kernel ran; 0 without copies.
  double overlap() const;
  // Returns the share of the time in which two kernels or more ran at once (the "kernel
  // concurrency" of NVIDIA's Visual Profiler); 0 without any time.
  double concurrency() const;
  // Returns the mean number of kernels at once while any ran; 0 without kernels.
  double mean_at_once() const;
};

struct TraceSummary {
  // "Operations" (device activities by class of operation), "Device activities" (kernels, and
  // copies by kind), "NCCL", "CUDA calls", "Ranges", as far as they have rows. Times of nested
  // ranges and of kernels at once overlap.
  std::vector<TraceTable> tables;
  std::vector<DeviceUse> devices;  // sorted by process and number
};

// Sums up events in any order and from any source. Events that have not ended do not count. Holds
// the activities of devices until Settle(), 24 bytes each. Not thread-safe.
class TraceSums {
 public:
  // `longest_gaps`: number of gaps to list.
  explicit TraceSums(size_t longest_gaps = 10);
  ~TraceSums();

  void Add(const std::vector<TimedEvent>& events);
  // Tells that all events to come begin at `time` or later.
  void Settle(int64_t time);
  // Returns the summary. Nothing can be added after it.
  TraceSummary Take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Summarizes all events at once.
TraceSummary Summarise(const std::vector<TimedEvent>& events, size_t longest_gaps = 10);

// Formats a table with columns Time(%), Time, Calls, Avg, Min, Max, Operation (if any row has one),
// Name and at most `rows` rows.
std::string TraceTableText(const TraceTable& table, size_t rows = 25);

}  // namespace recpack::probe
