// Timeline: sampled figures over time, recorded in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/probe/procfs/system_rates.h"

namespace recpack::probe {

// A figure over one stretch of time.
struct TimelineValue {
  const char* group;  // "cpu", "cores", "devices", "pressure", ...
  std::string of;     // "core 3", "GPU 0", ...; empty for the machine
  const char* name;   // "busy", "read"
  const char* unit;   // "share" (of 1), "cores", "bytes/s", ...
  double value = 0;
};

// One figure over all stretches; nullopt where it was not seen.
struct TimelineSeries {
  std::string group;
  std::string of;
  std::string name;
  std::string unit;
  std::vector<Figure> values;
};

struct Timeline {
  // Times of the stretches: CLOCK_MONOTONIC ns, sorted, without overlap.
  std::vector<int64_t> begin;
  std::vector<int64_t> end;
  std::vector<TimelineSeries> series;
};

// Holds at most `most_stretches` stretches: if there are more, neighbours are merged to their mean
// over time. Not thread-safe.
class TimelineRecorder {
 public:
  // `most_stretches`: even, at least 2. `most_series`: further series are left out.
  explicit TimelineRecorder(size_t most_stretches = 720, size_t most_series = 2048)
      : most_stretches_(most_stretches), most_series_(most_series) {}

  // Adds values from `begin` to `end`. `begin` must not be before the previous end. Does nothing if
  // the time is empty.
  void Add(int64_t begin, int64_t end, const std::vector<TimelineValue>& values);

  Timeline Collected() const;
  // Number of values that were left out because there were `most_series` already.
  size_t left_out() const noexcept { return left_out_; }

 private:
  struct Cell {
    double sum = 0;      // of value * seconds
    double seconds = 0;  // 0: not seen
  };
  struct Series {
    TimelineSeries what;  // without values
    std::vector<Cell> cells;
  };
  struct Stretch {
    int64_t begin = 0;
    int64_t end = 0;
    size_t samples = 0;
  };

  Series* Find(const TimelineValue& value, size_t guess);
  void Halve();

  const size_t most_stretches_;
  const size_t most_series_;
  size_t samples_each_ = 1;
  size_t left_out_ = 0;
  std::vector<Stretch> stretches_;
  std::vector<Series> series_;
};

}  // namespace recpack::probe
