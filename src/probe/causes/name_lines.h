// Names the line of the program that a cause comes from.
#pragma once

#include "src/probe/evidence/evidence.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Sets the verdict's lines. If the cause lies in the program's Python code, puts the function that
// takes most time, and its line, before the evidence, and into the cure.
void NameLines(const Evidence& evidence, Verdict& verdict);

}  // namespace recpack::probe
