// CPU affinity: the processors that a thread may run on, for machines of any size.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace recpack {

// Fills an affinity mask as sched_getaffinity(2) does, processor 0 in the lowest bit. Returns 0 or
// an errno; EINVAL if the machine may have more processors than the mask has bits.
using AffinityReader = std::function<int(std::span<unsigned long> mask)>;

// Returns the numbers of the processors in the mask, in ascending order. Reads the calling thread's
// mask if `read` is empty. Throws Error (kIo).
std::vector<int> AllowedProcessors(const AffinityReader& read = {});

// Pins the calling thread to one processor. Does nothing if that is not allowed.
void BindThread(int processor) noexcept;

}  // namespace recpack
