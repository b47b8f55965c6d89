// Error for a loader whose workers do not make progress.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "src/loader/run/worker.h"

namespace recpack {

// Throws Error (kIo) that says what each busy worker is doing, with the place of the one that has
// been busy longest. `stats`: statistics of the workers.
[[noreturn]] void ThrowStall(const std::vector<std::unique_ptr<Worker>>& workers,
                             const LoaderStats& stats, std::chrono::milliseconds timeout);

}  // namespace recpack
