#include "src/probe/evidence/bottleneck.h"

#include <iterator>

namespace recpack::probe {

const char* BottleneckName(Bottleneck bottleneck) noexcept {
  constexpr const char* kNames[] = {"unknown",
                                    "storage",
                                    "page-cache misses",
                                    "storage: latency",
                                    "storage: bandwidth",
                                    "storage: throttled",
                                    "storage: cache misses",
                                    "read",
                                    "decompression",
                                    "parse",
                                    "decode",
                                    "augment",
                                    "user function",
                                    "batch function",
                                    "write",
                                    "prefetch",
                                    "too few workers",
                                    "worker restarts",
                                    "pinning of batches",
                                    "training thread",
                                    "processors taken by others",
                                    "processor quota",
                                    "interpreter lock",
                                    "copies to the device",
                                    "copies on devices",
                                    "devices in turns",
                                    "exchange between devices",
                                    "slow rank",
                                    "host",
                                    "launch overhead",
                                    "throttled clock",
                                    "hang",
                                    "model"};
  static_assert(std::size(kNames) == kBottlenecks);
  return kNames[static_cast<size_t>(bottleneck)];
}

Bottleneck ParseBottleneck(std::string_view name) noexcept {
  for (size_t i = 0; i < kBottlenecks; ++i) {
    if (name == BottleneckName(static_cast<Bottleneck>(i))) return static_cast<Bottleneck>(i);
  }
  return Bottleneck::kUnknown;
}

}  // namespace recpack::probe
