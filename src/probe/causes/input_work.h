// What makes the input of a program with a loader that is not ours.
#pragma once

#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Where the threads that make the input were seen at one thing more than at any other, and mostly
// worked. False: they were not, or nobody saw them.
bool InputWorkIsSeen(const Evidence& evidence, Verdict& verdict);

}  // namespace recpack::probe
