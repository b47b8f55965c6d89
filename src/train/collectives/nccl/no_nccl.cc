#include "recpack/base/error.h"
#include "src/train/collectives/nccl/nccl_collective.h"

namespace recpack::train {

std::string NcclUnavailable() { return "this build has no NCCL"; }

std::string NcclPlace(int) { throw Error(ErrorKind::kUnsupported, NcclUnavailable()); }

std::unique_ptr<Collective> NcclCollective(std::shared_ptr<Collective>, int,
                                           const CollectiveOptions&) {
  throw Error(ErrorKind::kUnsupported, NcclUnavailable(), {},
              "build with CUDA and NCCL's header, or use the collectives of the host");
}

}  // namespace recpack::train
