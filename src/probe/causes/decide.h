// Decides from evidence whether a training is input-bound, where, and what fixing it would gain.
#pragma once

#include <cstdint>

#include "src/probe/evidence/evidence.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

enum class Training : uint8_t {
  kLongest,  // among those that reported steps, if any did; the last one of equal length
  kLatest,   // the one that began last and may still run
};

// Keeps the trainers of one training if a command ran several one after the other, and adds a note
// about it. Trainers that overlap in time belong to one training. If a training was restarted
// (ranks of torch.distributed in new processes), keeps its last start.
void SelectTraining(Training which, Evidence& evidence);

// docs/reference/verdicts.md has the rules.
Verdict Decide(const Evidence& evidence);

}  // namespace recpack::probe
