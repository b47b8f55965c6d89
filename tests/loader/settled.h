// Waits for a loader to be at rest.
#pragma once

#include <algorithm>
#include <thread>

#include "recpack/loader/loader.h"

namespace recpack {

// Waits until everything that can be made ahead is ready, in all slabs that are not held, and the
// workers wait.
inline LoaderStats Settled(const Loader& loader) {
  const auto settled = [](const LoaderStats& stats) {
    const auto waits = [](const WorkerStats& worker) { return worker.now == Stage::kRoom; };
    return stats.ready + stats.held == stats.slabs && std::ranges::all_of(stats.workers, waits);
  };
  while (!settled(loader.stats())) std::this_thread::yield();
  // Checks again: a snapshot reads the workers before the ring, which they may have filled
  // meanwhile.
  return loader.stats();
}

}  // namespace recpack
