// What the names of kernels and calls of CUDA tell.
#pragma once

#include <string_view>

namespace recpack::probe {

// A kernel of NCCL.
bool IsCollectiveKernel(std::string_view name);

// A call of CUDA's runtime or driver that launches, copies, allocates or waits; the others ask or
// note something and are over at once.
bool IsHostWork(std::string_view name);

// Of those, one that launches a kernel; not one of a whole graph.
bool IsLaunch(std::string_view name);

}  // namespace recpack::probe
