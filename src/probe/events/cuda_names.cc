#include "src/probe/events/cuda_names.h"

#include <algorithm>
#include <iterator>

namespace recpack::probe {

bool IsCollectiveKernel(std::string_view name) {
  // ncclDevKernel_AllReduce_Sum_f32_RING_LL(...), ncclKernel_..., ncclSymkDevKernel_...
  return name.starts_with("nccl") && name.find("Kernel") != std::string_view::npos;
}

bool IsHostWork(std::string_view name) {
  constexpr std::string_view kWork[] = {"Launch", "Synchronize",  "Memcpy",
                                        "Memset", "Malloc",       "Free",
                                        "Alloc",  "HostRegister", "GraphInstantiate"};
  return std::any_of(std::begin(kWork), std::end(kWork), [name](std::string_view work) {
    return name.find(work) != std::string_view::npos;
  });
}

bool IsLaunch(std::string_view name) {
  return name.find("Launch") != std::string_view::npos &&
         name.find("Graph") == std::string_view::npos;
}

}  // namespace recpack::probe
