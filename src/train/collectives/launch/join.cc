#include "src/train/collectives/launch/join.h"

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/collectives/mpi/mpi_collective.h"
#include "src/train/collectives/tcp/tcp_collective.h"

namespace recpack::train {

std::unique_ptr<Collective> JoinRanks(const LaunchPlace& place, const CollectiveOptions& options) {
  if (place.size == 1) return std::move(ThreadCollectives(1, options)[0]);
  const bool mpi = place.launcher == Launcher::kOpenMpi || place.launcher == Launcher::kHydra;
  if (mpi && HasMpi()) return MpiCollective(options);
  if (place.address.empty() || place.port == 0) {
    throw Error(ErrorKind::kUnsupported,
                format("{} started {} processes, but this build has no MPI",
                       LauncherName(place.launcher), place.size),
                {},
                "build with RECPACK_MPI=on, or set MASTER_ADDR and MASTER_PORT for all ranks to "
                "meet at, or launch by torchrun");
  }
  return TcpCollective(
      {.rank = place.rank, .size = place.size, .address = place.address, .port = place.port},
      options);
}

}  // namespace recpack::train
