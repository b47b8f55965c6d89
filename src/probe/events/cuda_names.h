// Classifies CUDA kernels and API calls by their names.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace recpack::probe {

// Tells whether a kernel is NCCL's: ncclDevKernel_AllReduce_Sum_f32_RING_LL(...), ncclKernel_...,
// ncclSymkDevKernel_...
inline bool IsCollectiveKernel(std::string_view name) {
  return name.starts_with("nccl") && name.find("Kernel") != std::string_view::npos;
}

// Tells whether a call of the CUDA runtime or driver launches, copies, allocates or waits. Other
// calls only query or record something and return at once.
inline bool IsHostWork(std::string_view name) {
  constexpr std::string_view kWork[] = {"Launch", "Synchronize",  "Memcpy",
                                        "Memset", "Malloc",       "Free",
                                        "Alloc",  "HostRegister", "GraphInstantiate"};
  return std::any_of(std::begin(kWork), std::end(kWork), [name](std::string_view work) {
    return name.find(work) != std::string_view::npos;
  });
}

// Tells whether a call launches a single kernel, not a graph.
inline bool IsLaunch(std::string_view name) {
  return name.find("Launch") != std::string_view::npos &&
         name.find("Graph") == std::string_view::npos;
}

}  // namespace recpack::probe
