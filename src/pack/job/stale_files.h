// Removes temporary files that killed processes left in an output folder.
#pragma once

#include "src/pack/job/pack.h"
#include "src/pack/job/pack_folder.h"
#include "src/pack/plan/plan.h"

namespace recpack::pack {

// Removes those of this task, of tasks whose lock is free, and of index and manifest. Call while
// holding this task's turn and packing no shard.
void RemoveStaleTemporaries(const Plan& plan, const PackFolder& folder, const PackOptions& options);

}  // namespace recpack::pack
