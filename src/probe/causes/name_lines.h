// Names the line of the program that a cause comes from.
#pragma once

#include <vector>

#include "src/probe/evidence/evidence.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Share of the training thread's time, imports left out, of the function of the program that takes
// most of it, beside the model and the input. 0 if none takes a tenth.
double OwnCodeShare(const std::vector<CodeLine>& lines);

// Sets the verdict's lines. If the cause lies in the program's Python code, puts the function that
// takes most time, and its line, before the evidence, and into the cure.
void NameLines(const Evidence& evidence, Verdict& verdict);

}  // namespace recpack::probe
