// Time of a loader's workers by stage, compared with the ceilings of this machine, and predictions
// of what would make the training faster. docs/reference/doctor.md has the formulas.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recpack/loader/stats.h"
#include "src/probe/doctor/ceilings.h"
#include "src/probe/evidence/evidence.h"
#include "src/probe/util/reading.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

struct StageUse {
  Stage stage = Stage::kRoom;
  double share = 0;         // of the workers' time
  Reading<double> rate;     // samples per second if the workers did nothing else
  Reading<double> ceiling;  // samples per second of bare calls that do the same, on as many threads
  std::string next;         // what would help, and by how much; empty if nothing is known

  Reading<double> ceiling_share() const;  // rate / ceiling
  bool exceeds_ceiling() const;           // by so much that it is none
};

// Predicted samples per second after a change.
struct WhatIf {
  std::string change;   // "4 threads", "`pack --resize 256`"
  double loader = 0;    // loader alone
  double training = 0;  // loader and consumer on the same cores
};

struct LoaderUse {
  int process = 0;
  uint32_t number = 0;  // of the loader in its process
  int threads = 0;
  int cores = 0;                   // usable by the process; 0: unknown
  double per_second = 0;           // samples given to the consumer
  double consumer_per_second = 0;  // samples the consumer takes if it never waits; 0: unknown
  std::vector<StageUse> stages;    // that took time, the longest first; without waits for room
  double room_share = 0;           // of the workers' time, waiting for a free slot
  std::string next;                // advice in one sentence; empty if there is none
  std::vector<WhatIf> what_if;     // the current state first; empty without ceilings
  std::string ceilings;            // where the ceilings come from, or how to measure them
};

// Describes the loader that FindLoaderWork() picks. Returns nullopt if there is no recpack loader.
std::optional<LoaderUse> MakeLoaderUse(const Evidence& evidence,
                                       const std::optional<Ceilings>& ceilings);

// The table of stages, the advice and the table of predictions; 100 columns wide.
std::string LoaderUseText(const LoaderUse& use);

// One JSON object on one line; docs/reference/doctor.md lists its members.
std::string LoaderUseJson(const LoaderUse& use);

}  // namespace recpack::probe
