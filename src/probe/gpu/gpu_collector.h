// Samples the GPUs of a process tree and accumulates their use.
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

// Keeps sums, not samples. Not thread-safe.
class GpuCollector {
 public:
  explicit GpuCollector(const GpuSamplerOptions& options) : sampler_(options) {}

  // Samples all GPUs. `processes`: the tree's, sorted by PID.
  std::vector<GpuSample> Sample(const std::vector<ProcessSample>& processes);

  // Tells whether the driver reports any GPU.
  bool any() const noexcept { return sampler_.devices().has_value() && *sampler_.devices() > 0; }
  // Returns the use of GPUs that a process of the tree used, and of GPUs where that is unknown.
  // `begin`, `end`: time of the steps, on the samples' clock; empty if there were none.
  std::vector<GpuUse> Uses(int64_t begin = 0, int64_t end = 0) const;
  // Returns a line for each value of these GPUs that could not be read, with times and reason.
  // `begin`: start of the watch, on the samples' clock.
  std::vector<std::string> Unseen(int64_t begin) const;
  // Returns the periods of these GPUs' utilisation if it is periodic, the strongest first.
  std::vector<Period> Periods() const;
  // Returns the reason why the driver reports no GPU; empty if it does.
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
    int64_t until = 0;  // time of the next values; 0: none yet
  };
  // Sum of all utilisations up to a sample.
  struct UsedUntil {
    int64_t time = 0;
    double sum = 0;
    uint64_t count = 0;
  };
  struct Device {
    std::string name;
    bool used = false;            // by a process of the tree
    bool processes_seen = false;  // its processes could be read
    int64_t first = 0, last = 0;  // times of samples with values
    int64_t newest = 0;           // time of the latest sample of any kind
    uint64_t samples = 0;
    Mean utilisation, memory_utilisation, power, power_limit, busy_clock;
    double highest_clock = 0;
    uint64_t busy = 0, throttled = 0;
    std::map<std::string, uint64_t> throttled_by;
    int64_t spins_since = 0;  // 0: not spinning
    std::vector<Fault> faults;
    std::map<std::string, std::string> missing;          // reasons by figure
    std::deque<std::pair<int64_t, float>> utilisations;  // the latest, with times
    Thinned<UsedUntil> used_until;

    void Add(const GpuSample& sample);
    void AddFault(const GpuSample& sample);
    void AddBusy(const GpuValues& values);
    void AddMissing(const GpuValues& values);
    bool counts() const { return used || !processes_seen; }
    GpuUse Use(int number) const;
    // Returns the mean utilisation; nullopt if there are too few samples in that time.
    GpuUse::Figure BusyBetween(int64_t begin, int64_t end) const;
  };

  GpuSampler sampler_;
  std::map<int, Device> devices_;
};

}  // namespace recpack::probe
