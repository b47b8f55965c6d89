// Writes index and manifest, the last step of a pack.
#pragma once

#include <cstdint>

#include "src/pack/job/pack.h"
#include "src/pack/job/pack_folder.h"

namespace recpack::pack {

enum class PackFinish {
  kDone,
  kShardsMissing,   // other tasks have not finished theirs
  kTooManySkipped,  // items, over all tasks
};

// If every shard of the plan is complete and together they skip at most `skip_limit` items: joins
// their parts of the index, writes DALI's index if requested, and the manifest last. Idempotent,
// and may run in several tasks at once.
PackFinish FinishPack(const Source& source, const Plan& plan, PackFolder& folder,
                      const PackOptions& options, uint64_t skip_limit, Manifest& manifest);

}  // namespace recpack::pack
