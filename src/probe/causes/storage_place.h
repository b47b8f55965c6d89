// Storage that is waited for, and whether it need be.
#pragma once

#include "src/probe/evidence/loader_work.h"
#include "src/probe/verdict/verdict.h"

namespace recpack::probe {

// Whether much of what the input asked for came from disks.
bool DisksGiveMuch(const Evidence& evidence, const LoaderWork* work);

// Adds to the evidence what was read from where; the bottleneck, which is storage, becomes
// page-cache misses where what comes from the disks was read before. `work`: null where the input
// is not our loader's.
void NameStorage(const Evidence& evidence, const LoaderWork* work, Verdict& verdict);

}  // namespace recpack::probe
