#include <utility>

#include "src/train/collectives/nccl/nccl_collective.h"

namespace recpack::train {

GpuCollectives NcclCollectives(const CollectiveOptions& options) {
  return {"NCCL", NcclUnavailable,
          [options](std::shared_ptr<Collective> host, int device) {
            return NcclCollective(std::move(host), device, options);
          },
          NcclPlace};
}

}  // namespace recpack::train
