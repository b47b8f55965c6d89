// Which trainer told of steps.
#pragma once

#include "recpack/base/event_log.h"

namespace recpack::probe {

// Whether two are one trainer, whose steps follow each other: of a device it is whichever thread of
// the process tells of it, elsewhere the thread.
template <typename A, typename B>
bool SameTrainer(const A& a, const B& b) {
  return a.process == b.process && a.device == b.device &&
         (a.device != Event::kNoDevice || a.lane == b.lane);
}

}  // namespace recpack::probe
