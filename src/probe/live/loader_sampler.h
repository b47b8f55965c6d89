// The loaders of a tree of processes.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "src/probe/procfs/system_sample.h"
#include "src/probe/util/thinned.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// One thread. Looking for loaders reads a process's open files: a process that has shown none is
// looked at each time when it is new, and then once in kPause samples.
class LoaderSampler {
 public:
  static constexpr uint32_t kNew = 10;  // samples
  static constexpr uint32_t kPause = 10;
  // Of loaders that have ended less is kept: a training may make one an epoch.
  static constexpr int64_t kEnded = 60'000'000'000;  // ns without a sample
  static constexpr size_t kKeptOfEnded = 8;

  // `processes`: those that run now. What was seen of their loaders.
  std::vector<LoaderSample> Sample(const std::vector<ProcessSample>& processes);

  // Of all samples so far, by loader and time.
  std::vector<LoaderSample> All() const;

  // How often processes were looked at so far.
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
