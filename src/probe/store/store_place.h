// Names why a loader waits for an object store. docs/reference/verdicts.md has the rules.
#pragma once

#include <optional>

#include "src/probe/evidence/evidence.h"
#include "src/probe/evidence/loader_work.h"
#include "src/probe/verdict/cause.h"

namespace recpack::probe {

// For a loader whose workers wait for input. If most of these waits are for an object store, sets
// bottleneck, evidence and cure of the cause (where requests failed only its evidence), and returns
// which part of the waits they are; returns nullopt otherwise, and changes nothing. `max_gain`: of
// a perfect input.
std::optional<double> StoreIsSlow(const Evidence& evidence, const LoaderWork& work, double max_gain,
                                  Cause& cause);

}  // namespace recpack::probe
