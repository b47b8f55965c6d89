// Samples the statistics of all recpack loaders in a process tree.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "src/probe/evidence/evidence.h"
#include "src/probe/procfs/system_sample.h"
#include "src/probe/util/thinned.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Not thread-safe. Finding loaders requires reading a process's open files. Therefore a process
// without loaders is checked in its first kNew samples, and then in one of kPause samples.
class LoaderSampler {
 public:
  static constexpr uint32_t kNew = 10;  // samples
  static constexpr uint32_t kPause = 10;
  // Keeps fewer samples of loaders that have ended: a training may create one per epoch.
  static constexpr int64_t kEnded = 60'000'000'000;  // ns without a sample
  static constexpr size_t kKeptOfEnded = 8;

  // Samples the loaders of `processes`, which run now, and returns the new samples.
  std::vector<LoaderSample> Sample(const std::vector<ProcessSample>& processes);

  // Returns the samples so far, sorted by loader and time.
  std::vector<LoaderSample> All() const;

  // Number of times that a process was checked for loaders.
  uint64_t looks() const noexcept { return looks_; }

 private:
  struct Process {
    uint64_t start_ticks = 0;
    uint32_t samples = 0;
    bool has_loaders = false;
  };

  struct Loader {
    Thinned<LoaderSample> samples;
    int64_t last = 0;
    bool ended = false;
  };

  void ShrinkEnded(int64_t now);

  std::map<int, Process> processes_;
  std::map<std::pair<int, uint32_t>, Loader> loaders_;  // by process and number
  uint64_t looks_ = 0;
};

}  // namespace recpack::probe
