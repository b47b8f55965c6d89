// Connects a process to the others as its launcher describes: recpack::train_mpi.
#pragma once

#include <memory>

#include "src/train/collectives/collective.h"
#include "src/train/collectives/launch/launch.h"

namespace recpack::train {

// For a single process: a collective of one rank. For an MPI job: MpiCollective() if this build has
// MPI. Otherwise TcpCollective() at the place's address. Throws like these, and Error
// (kUnsupported) for an MPI job without MPI in the build and without an address.
std::unique_ptr<Collective> JoinRanks(const LaunchPlace& place,
                                      const CollectiveOptions& options = {});

}  // namespace recpack::train
