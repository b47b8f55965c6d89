#include <utility>

#include "recpack/train/nccl_collective.h"

namespace recpack {

GpuCollectives NcclCollectives() {
  return {"NCCL", NcclUnavailable,
          [](std::shared_ptr<Collective> host, int device) {
            return NcclCollective(std::move(host), device);
          },
          NcclPlace};
}

}  // namespace recpack
