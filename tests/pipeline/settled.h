// Loaders at rest, and in forked children.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "recpack/pipeline/loader.h"

namespace recpack {

// Waits until all that can be made ahead is there, in all slabs that are not held, and the workers
// wait.
inline LoaderStats Settled(const Loader& loader) {
  for (;;) {
    LoaderStats stats = loader.stats();
    const auto waits = [](const WorkerStats& worker) { return worker.now == Stage::kRoom; };
    if (stats.ready + stats.held == stats.slabs && std::ranges::all_of(stats.workers, waits)) {
      return stats;
    }
    std::this_thread::yield();
  }
}

// Exit code of a forked child: 0 where `check` holds there. Workers should be at rest: sanitizers
// do not make their own locks safe for forks.
template <typename Check>
int InChild(Check check) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(check() ? 0 : 1);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace recpack
