// recprobe gain --against: a program beside another one with its input fixed.
#pragma once

#include <string>
#include <vector>

namespace recpack::tool {

struct PairedFlags {
  std::vector<std::string> command;
  std::string against;  // for the shell
  size_t rounds = 4;
  double run_seconds = 0;  // after which a run is ended; 0: it goes to its end
  bool hook = true;
  bool json = false;
};

// Runs both commands in each round, the one that comes first in turn, and prints the steps a second
// of each and their ratio. Returns the exit code: that of a run that failed, else kDone. Throws
// Error where a run shows no steps.
int RunPairs(const PairedFlags& flags);

}  // namespace recpack::tool
