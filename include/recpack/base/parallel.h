// A loop over numbered work on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace recpack {

// Threads that ParallelFor uses: `threads` (0: AvailableThreads()), never more than there is work.
size_t ParallelThreads(size_t count, int threads);

// Calls body(worker, i) once for each i in [0, count), low numbers first; worker <
// ParallelThreads() tells the threads apart. The first exception stops the handing out of work and
// is thrown again here; so does Error (kIo) where a thread cannot be started.
void ParallelFor(size_t count, int threads,
                 const std::function<void(size_t worker, size_t i)>& body);

}  // namespace recpack
