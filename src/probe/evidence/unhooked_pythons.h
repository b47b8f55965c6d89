// Python programs of a watched tree that the hook is not in.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/probe/procfs/system_sample.h"

namespace recpack::probe {

// One thread.
class UnhookedPythons {
 public:
  // `folder`: of the events, with the hook in it; where it holds none nothing is looked for.
  explicit UnhookedPythons(std::string folder);

  // Looks at each program of each process once, when it had time to load the hook.
  void Look(const std::vector<ProcessSample>& processes, int64_t now);
  // Which process, and why; empty: none was seen.
  const std::string& first() const noexcept { return first_; }

 private:
  const std::string folder_;
  const bool has_hook_;
  std::map<std::pair<int, std::string>, int64_t> seen_;  // since when; a shell becomes a Python
  std::string first_;
};

}  // namespace recpack::probe
