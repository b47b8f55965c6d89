// The last step of a job: index and manifest.
#pragma once

#include "recpack/dataset/pack.h"
#include "src/dataset/pack_folder.h"

namespace recpack {

// Once every shard of the plan is complete: joins their parts of the index, writes what DALI needs
// if asked to, and the manifest last. False where shards (of other tasks) are missing. It may be
// done again, and by several tasks at once: the outcome is the same.
bool FinishPack(const Source& source, const Plan& plan, PackFolder& folder,
                const PackOptions& options, Manifest& manifest);

}  // namespace recpack
