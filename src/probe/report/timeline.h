// What was sampled, over time, in memory that does not grow with it.
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
  std::string of;     // whose it is: "core 3", "GPU 0"; empty: the machine's
  const char* name;   // "busy", "read"
  const char* unit;   // "share" (of 1), "cores", "bytes/s", ...
  double value = 0;
};

// One figure, over all stretches; nothing where it was not seen.
struct TimelineSeries {
  std::string group;
  std::string of;
  std::string name;
  std::string unit;
  std::vector<Figure> values;
};

struct Timeline {
  // Of the stretches: CLOCK_MONOTONIC ns, in order, none over another.
  std::vector<int64_t> begin;
  std::vector<int64_t> end;
  std::vector<TimelineSeries> series;
};

// Holds at most `most_stretches`: where more come, neighbours are joined to their mean over time.
// One thread.
class TimelineRecorder {
 public:
  // `most_stretches`: even, at least 2. `most_series`: those that come later are left out.
  explicit TimelineRecorder(size_t most_stretches = 720, size_t most_series = 2048)
      : most_stretches_(most_stretches), most_series_(most_series) {}

  // What was from `begin` to `end`, which is not before the last one's end. Of no length: nothing.
  void Add(int64_t begin, int64_t end, const std::vector<TimelineValue>& values);

  Timeline Collected() const;
  // Values of series that came when there were `most_series` already.
  size_t left_out() const noexcept { return left_out_; }

 private:
  struct Cell {
    double sum = 0;      // of values, each times its seconds
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
