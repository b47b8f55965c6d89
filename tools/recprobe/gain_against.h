// Implements recprobe gain --against: compares a program with a variant whose input is fixed.
#pragma once

#include <string>
#include <vector>

namespace recpack::tool {

struct PairedFlags {
  std::vector<std::string> command;
  std::string against;  // shell command
  size_t rounds = 4;
  double run_seconds = 0;  // limit of a run; 0: none
  bool hook = true;
  bool json = false;
};

// Runs both commands in each round, in alternating order, and prints the steps per second of each
// and their ratio. Returns the exit code of a run that failed, else kDone. Throws Error if a run
// shows no steps.
int RunPairs(const PairedFlags& flags);

}  // namespace recpack::tool
