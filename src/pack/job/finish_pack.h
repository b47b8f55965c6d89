// The last step of a job: index and manifest.
#pragma once

#include <cstdint>

#include "src/pack/job/pack.h"
#include "src/pack/job/pack_folder.h"

namespace recpack::pack {

enum class PackFinish {
  kDone,
  kShardsMissing,   // those of other tasks
  kTooManySkipped,  // items, of all tasks together
};

// Once every shard of the plan is complete, and they leave out no more than `skip_limit` items:
// joins their parts of the index, writes what DALI needs if asked to, and the manifest last. It may
// be done again, and by several tasks at once: the outcome is the same.
PackFinish FinishPack(const Source& source, const Plan& plan, PackFolder& folder,
                      const PackOptions& options, uint64_t skip_limit, Manifest& manifest);

}  // namespace recpack::pack
