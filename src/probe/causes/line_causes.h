// Finds causes by the lines of the program, where nothing else reports them.
#pragma once

#include "src/probe/evidence/evidence.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Sets the verdict's cause by `line`, which FindLine() gave, if the rules found no cause, or only
// that of a step whose waits nothing reports. The verdict has no action then.
void FindCauseByLine(const Evidence& evidence, const CodeLine& line, Verdict& verdict);

}  // namespace recpack::probe
