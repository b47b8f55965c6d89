// A rank of the emulated NCCL, for the suite of all collectives.
#pragma once

#include <memory>
#include <utility>

#include "src/train/collectives/nccl/nccl_collective.h"
#include "tests/train/collectives/through_device.h"

namespace recpack::train {

// With as many GPUs as ranks.
inline std::unique_ptr<Collective> OnGpuOfRank(std::shared_ptr<Collective> host,
                                               const CollectiveOptions& options) {
  const int rank = host->rank();
  return std::make_unique<ThroughDevice>(NcclCollective(std::move(host), rank, options));
}

}  // namespace recpack::train
