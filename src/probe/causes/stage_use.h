// Where the time of a loader's workers went, against what this machine can do at best, and what
// would make the training faster. docs/doctor.md has the formulas.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/probe/doctor/ceilings.h"
#include "src/probe/util/reading.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

struct StageUse {
  Stage stage = Stage::kRoom;
  double share = 0;         // of the workers' time
  Reading<double> rate;     // samples a second if the workers did nothing else
  Reading<double> ceiling;  // samples a second of bare calls that do the same, of as many threads
  std::string next;         // what would help, and how much; empty: nothing that is known

  // Of 1.
  Reading<double> ceiling_share() const;
};

// Samples a second under other circumstances.
struct WhatIf {
  std::string change;   // "4 threads", "`pack --resize 256`"
  double loader = 0;    // of the loader alone
  double training = 0;  // with its consumer on the same cores
};

struct LoaderUse {
  int process = 0;
  uint32_t number = 0;  // among the loaders of its process
  int threads = 0;
  int cores = 0;                   // that its process may use; 0: unknown
  double per_second = 0;           // samples given
  double consumer_per_second = 0;  // if its consumer never waited for it; 0: unknown
  std::vector<StageUse> stages;    // that took time, the longest first; waits for room are none
  double room_share = 0;           // of the workers' time, in which they waited for room
  std::string next;                // in a sentence; empty: nothing that is known
  std::vector<WhatIf> what_if;     // as it is first; empty without ceilings
  std::string ceilings;            // whose they are, or how to have some
};

// Of the loader that was waited for longest; nothing where none of ours was seen.
std::optional<LoaderUse> UseOf(const Evidence& evidence, const std::optional<Ceilings>& ceilings);

// A table of stages, the sentence, the table of what-ifs; 100 columns wide.
std::string LoaderUseText(const LoaderUse& use);

// One JSON object on one line; docs/doctor.md has its members.
std::string LoaderUseJson(const LoaderUse& use);

}  // namespace recpack::probe
