// The message of a loader that has come to a stop.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "src/loader/run/worker.h"

namespace recpack {

// Throws Error (kIo) that names what each busy worker is at, with the place of the one that has
// been at it longest. `stats` is of the workers.
[[noreturn]] void ThrowStall(const std::vector<std::unique_ptr<Worker>>& workers,
                             const LoaderStats& stats, std::chrono::milliseconds timeout);

}  // namespace recpack
