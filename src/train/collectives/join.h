// The collective of a process, from where its launcher put it: recpack::train_mpi.
#pragma once

#include <memory>

#include "src/train/collectives/collective.h"
#include "src/train/collectives/launch.h"

namespace recpack::train {

// Of one process alone: a collective of one rank. Of a job of MPI: MpiCollective() where this build
// has MPI. Else TcpCollective() at the place's address. Throws as these do, and Error
// (kUnsupported) for a job of MPI if there is neither MPI nor an address.
std::unique_ptr<Collective> JoinRanks(const LaunchPlace& place,
                                      const CollectiveOptions& options = {});

}  // namespace recpack::train
