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

// Returns a number that all processors of one physical core have in common; -1 if unknown.
using CoreReader = std::function<int(int processor)>;

// Orders processors so that the first ones are on different cores: one of each core in ascending
// order, then their siblings. Reads /sys if `core_of` is empty.
std::vector<int> CoresFirst(const std::vector<int>& processors, const CoreReader& core_of = {});

// Pins the calling thread to one processor. Does nothing if that is not allowed.
void BindThread(int processor) noexcept;

}  // namespace recpack
