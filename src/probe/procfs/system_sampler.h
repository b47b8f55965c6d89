// Samples a machine and a tree of processes by reading /proc and /sys.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/probe/procfs/system_sample.h"
#include "src/probe/util/unseen.h"

namespace recpack::probe {

struct SystemSamplerOptions {
  std::string proc = "/proc";
  std::string sys = "/sys";
  // PID whose children all belong to the tree as well: a reaper (PR_SET_CHILD_SUBREAPER) that
  // adopts them. 0: none.
  int adopter = 0;
  // Files kept open; others are opened for each sample. 0: half of the process's limit.
  int max_open_files = 0;
  // Share of one core that scans for new processes may take; they are made less often to keep it.
  // 0: scan at every sample.
  double max_scan_share = 0.001;
};

// Not thread-safe. Does not throw for files that cannot be read: their values are missing, and
// unseen() reports them.
//
// The tree holds the roots, their descendants, known members whose parent has ended, and processes
// whose group or session a member leads or has led.
class SystemSampler {
 public:
  explicit SystemSampler(std::vector<int> roots, const SystemSamplerOptions& options = {});
  ~SystemSampler();

  // Samples the current state. The first overload reuses the sample's memory.
  void Sample(SystemSample& sample);
  SystemSample Sample();

  // Returns what could not be read so far, each once.
  const std::vector<Unseen>& unseen() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack::probe
