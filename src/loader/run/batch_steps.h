// Runs the batch steps of a loader on a complete batch.
#pragma once

#include "src/loader/batch/batch_memory.h"
#include "src/loader/run/loader_plan.h"

namespace recpack {

// Calls every batch worker of the plan, in order, on the batch `at` in `memory`. Throws Error,
// nesting what a worker threw, with the batch's epoch and position.
void RunBatchSteps(const LoaderPlan& plan, const BatchPlan& at, const BatchMemory& memory);

}  // namespace recpack
