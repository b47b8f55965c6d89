// Which processors a thread may run on, on machines of any size.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace recpack {

// Fills a mask, processor 0 first, as sched_getaffinity(2): returns 0 or the errno, EINVAL where
// the machine may have more processors than the mask has bits.
using AffinityReader = std::function<int(std::span<unsigned long> mask)>;

// Numbers of the processors that are in the mask, in their order. Empty `read`: this thread's mask.
// Throws Error (kIo).
std::vector<int> AllowedProcessors(const AffinityReader& read = {});

// Keeps this thread on one processor. Where that may not be it stays as it is.
void BindThread(int processor) noexcept;

}  // namespace recpack
