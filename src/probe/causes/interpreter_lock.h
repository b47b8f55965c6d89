// Python's interpreter lock, which one thread at a time has.
#pragma once

#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Names it in the verdict where other threads of the trainer's process had the lock much of the
// time.
bool LockIsTaken(const Evidence& evidence, const TrainerSteps& trainer, Verdict& verdict);

}  // namespace recpack::probe
