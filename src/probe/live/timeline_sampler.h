// Builds the timeline of a watch from its samples.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "src/probe/report/timeline.h"
#include "src/probe/report/timeline_values.h"

namespace recpack::probe {

// Not thread-safe. Per sample, add GPUs and loaders first and the machine last: it ends the
// stretch.
class TimelineSampler {
 public:
  void Add(const GpuSample& sample) { AppendValues(sample, values_); }

  void Add(const LoaderSample& sample) {
    const auto [before, is_new] =
        loaders_.try_emplace({sample.process, sample.stats.number}, sample);
    if (is_new) return;
    AppendValues(before->second, sample, values_);
    before->second = sample;
  }

  void Add(const SystemSample& sample) {
    SystemSample machine = WithoutProcesses(sample);
    tree_seen_ |= !sample.processes.empty();
    if (machine_.time_ns > 0) {
      AppendValues(RatesBetween(machine_, machine), tree_seen_, values_);
      AppendValues(machine, values_);
      recorder_.Add(machine_.time_ns, machine.time_ns, values_);
    }
    machine_ = std::move(machine);
    values_.clear();
  }

  Timeline Collected() const { return recorder_.Collected(); }
  bool left_out() const noexcept { return recorder_.left_out() > 0; }

 private:
  SystemSample machine_;    // previous sample
  bool tree_seen_ = false;  // whether the watched processes are visible
  std::map<std::pair<int, uint32_t>, LoaderSample> loaders_;  // previous, by process and number
  std::vector<TimelineValue> values_;                         // since the previous sample
  TimelineRecorder recorder_;
};

}  // namespace recpack::probe
