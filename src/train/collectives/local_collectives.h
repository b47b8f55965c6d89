// The threads of a training's process.
#pragma once

#include <memory>
#include <vector>

#include "src/train/collectives/collective.h"

namespace recpack::train {

// They wait for each other without a limit: none can be lost, one that fails aborts, and what one
// of them waits for has a limit of its own: input that of the loader (`stall_timeout`), other
// processes that of the collective between them. A shorter one here would end a run that waits, as
// it may, for those.
inline std::vector<std::unique_ptr<Collective>> LocalCollectives(int threads) {
  return ThreadCollectives(threads, {.timeout = CollectiveOptions::kNoLimit});
}

}  // namespace recpack::train
