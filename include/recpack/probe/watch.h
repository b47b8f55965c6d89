// Watches a program from outside while it trains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "recpack/probe/verdict.h"

namespace recpack {

struct WatchOptions {
  std::vector<int> roots;   // processes; their descendants are watched with them
  int adopter = 0;          // whose children belong to them as well (SystemSamplerOptions)
  std::string events = {};  // folder of event files; empty: the programs tell nothing of themselves
  // Why the programs tell nothing of their steps and waits, if they do not.
  std::string no_events = "the program tells nothing of its steps";
};

// One thread.
class Watch {
 public:
  explicit Watch(const WatchOptions& options);
  ~Watch();

  // What is to be seen now. To be called about ten times a second, and once after the end.
  void Sample();

  // Of all samples so far; of each trainer, its latest `most_steps`, and of the system what was
  // while these ran.
  Evidence Collected(size_t most_steps = SIZE_MAX) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack
