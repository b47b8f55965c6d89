#include "recpack/base/error.h"
#include "src/train/collectives/mpi/mpi_collective.h"

namespace recpack::train {

bool HasMpi() noexcept { return false; }

std::unique_ptr<Collective> MpiCollective(const CollectiveOptions&) {
  throw Error(ErrorKind::kUnsupported, "this build has no MPI", {},
              "install an MPI library and build with RECPACK_MPI=on, or launch without MPI");
}

}  // namespace recpack::train
