// Finds Python programs in a watched process tree that have not loaded the hook.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/probe/procfs/system_sample.h"

namespace recpack::probe {

// Not thread-safe.
class UnhookedPythons {
 public:
  // `folder`: the events folder, which contains the hook. If it has no hook, Look() does nothing.
  explicit UnhookedPythons(std::string folder);

  // Checks each program of each process once, after it has had time to load the hook.
  void Look(const std::vector<ProcessSample>& processes, int64_t now);
  // The first process found and the reason, for people. Empty if none was found.
  const std::string& first() const noexcept { return first_; }

 private:
  const std::string folder_;
  const bool has_hook_;
  // Time of the first sight, by process and name: a shell may exec Python.
  std::map<std::pair<int, std::string>, int64_t> seen_;
  std::string first_;
};

}  // namespace recpack::probe
