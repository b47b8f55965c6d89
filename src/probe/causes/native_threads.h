// What is seen of an input whose place nobody tells: it is made in native code, or elsewhere.
#pragma once

#include <vector>

#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Adds to evidence and cure what the program's threads did besides the training ones; the place
// stays unknown.
void DescribeNativeThreads(const Evidence& evidence, const std::vector<TrainerSteps>& trainers,
                           Verdict& verdict);

}  // namespace recpack::probe
