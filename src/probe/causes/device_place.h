// What keeps a device from its work, other than input.
#pragma once

#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Each names it in the verdict where it holds.

// The device waits for short kernels to be launched. `parts`: of the trainers' steps.
bool LaunchesAreSlow(const std::vector<TrainerSteps>& trainers, const Breakdown& parts,
                     Verdict& verdict);

// The devices of a trainer compute one at a time: they wait for each other's results.
bool DevicesTakeTurns(const std::vector<TrainerSteps>& trainers, Verdict& verdict);

// A GPU's clock is held back while it works.
bool ClockIsThrottled(const Evidence& evidence, Verdict& verdict);

// No step ends any more: the last word is a wait for input, or GPUs spin.
bool Hangs(const Evidence& evidence, const std::vector<TrainerSteps>& trainers, Verdict& verdict);

}  // namespace recpack::probe
