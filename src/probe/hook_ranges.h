// Ranges in which the hook in Python programs tells figures of its own: none is the program's.
#pragma once

#include "recpack/probe/told_ranks.h"
#include "src/probe/input_samples.h"
#include "src/probe/lock_probes.h"

namespace recpack {

inline bool IsOfTheHook(const TimedEvent& event) {
  return IsLockProbe(event) || IsInputSample(event) || IsRank(event);
}

}  // namespace recpack
