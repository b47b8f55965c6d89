// Parallel loop over a range of indices.
#pragma once

#include <cstddef>
#include <functional>

namespace recpack {

// Returns the number of threads that ParallelFor uses: `threads` (0: AvailableThreads()), at most
// `count`.
size_t ParallelThreads(size_t count, int threads);

// Calls body(worker, i) once for each i in [0, count), low indices first; `worker` <
// ParallelThreads() identifies the thread. After the first exception no more indices are handed
// out, and it is rethrown here. Throws Error (kIo) if a thread cannot be started.
void ParallelFor(size_t count, int threads,
                 const std::function<void(size_t worker, size_t i)>& body);

}  // namespace recpack
