// Samples a machine and a tree of processes from /proc and /sys.
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
  // All children of this process belong to the tree as well, such as those that a reaper
  // (PR_SET_CHILD_SUBREAPER) adopts. 0: none.
  int adopter = 0;
  // Files kept open; others are opened for each sample. 0: half of what the process may open.
  int max_open_files = 0;
  // Looking for new processes takes at most this share of one core; more often is not looked.
  // 0: at each sample.
  double max_scan_share = 0.001;
};

// One thread. Throws nothing for what it finds: what cannot be read is missing and told by
// unseen().
//
// The tree holds the roots, their descendants, those whose parent ended since they were seen, and
// those whose group or session a member leads or has led.
class SystemSampler {
 public:
  explicit SystemSampler(std::vector<int> roots, const SystemSamplerOptions& options = {});
  ~SystemSampler();

  // The state now, into a sample whose memory is used again.
  void Sample(SystemSample& sample);
  SystemSample Sample();

  // What could not be read so far, each once.
  const std::vector<Unseen>& unseen() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack::probe
