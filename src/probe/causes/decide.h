// Decides from evidence whether a training is input-bound, where, and what fixing it would gain.
#pragma once

#include "src/probe/evidence/evidence.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// docs/verdicts.md has the rules.
Verdict Decide(const Evidence& evidence);

}  // namespace recpack::probe
