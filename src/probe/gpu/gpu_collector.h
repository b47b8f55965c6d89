// The GPUs that a tree of processes uses, while it runs.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/probe/gpu/gpu_sampler.h"
#include "src/probe/gpu/gpu_use.h"
#include "src/probe/procfs/system_sample.h"
#include "src/probe/steps/period.h"
#include "src/probe/util/thinned.h"

namespace recpack::probe {

// Adds samples up; keeps none. One thread.
class GpuCollector {
 public:
  explicit GpuCollector(const GpuSamplerOptions& options) : sampler_(options) {}

  // `processes`: of the tree, by number. What all GPUs gave.
  std::vector<GpuSample> Sample(const std::vector<ProcessSample>& processes);

  // The driver tells of GPUs.
  bool any() const noexcept { return sampler_.devices().has_value() && *sampler_.devices() > 0; }
  // Of those that a process of the tree was on, and of those of which that cannot be seen.
  // `begin`, `end`: of the steps, on the samples' clock; no later than `begin`: there were none.
  std::vector<GpuUse> Uses(int64_t begin = 0, int64_t end = 0) const;
  // What could not be read of these, since when, and why. `begin`: of the watch, on the samples'
  // clock.
  std::vector<std::string> Unseen(int64_t begin) const;
  // Of the utilisation of those whose work repeats, the surest first.
  std::vector<Period> Periods() const;
  // Why the driver tells of no GPU at all; empty where it does.
  std::string WhyNone() const { return sampler_.devices().reason(); }

 private:
  struct Mean {
    double sum = 0;
    uint64_t count = 0;
    void Add(const Reading<double>& value);
    GpuUse::Figure value() const;
  };
  struct Fault {
    std::string reason;
    int64_t since = 0;
    int64_t until = 0;  // when there were values again; 0: not yet
  };
  // All utilisations up to a sample, added up.
  struct UsedUntil {
    int64_t time = 0;
    double sum = 0;
    uint64_t count = 0;
  };
  struct Device {
    std::string name;
    bool used = false;            // a process of the tree was on it
    bool processes_seen = false;  // it could be told which are
    int64_t first = 0, last = 0;  // samples with values
    int64_t newest = 0;           // sample of any kind
    uint64_t samples = 0;
    Mean utilisation, memory_utilisation, power, power_limit, busy_clock;
    double highest_clock = 0;
    uint64_t busy = 0, throttled = 0;
    std::map<std::string, uint64_t> throttled_by;
    int64_t spins_since = 0;  // 0: it does not
    std::vector<Fault> faults;
    std::map<std::string, std::string> missing;          // figure, and why
    std::deque<std::pair<int64_t, float>> utilisations;  // the latest, with their times
    Thinned<UsedUntil> used_until;

    void Add(const GpuSample& sample);
    void AddFault(const GpuSample& sample);
    void AddBusy(const GpuValues& values);
    void AddMissing(const GpuValues& values);
    bool counts() const { return used || !processes_seen; }
    GpuUse Use(int number) const;
    // In seconds; nothing where too few samples were taken in that time.
    GpuUse::Figure BusyBetween(int64_t begin, int64_t end) const;
  };

  GpuSampler sampler_;
  std::map<int, Device> devices_;
};

}  // namespace recpack::probe
