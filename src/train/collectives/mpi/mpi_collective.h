// Collectives between the processes of an MPI job: recpack::train_mpi.
#pragma once

#include <memory>

#include "src/train/collectives/collective.h"

namespace recpack::train {

// Returns true if this build has MPI.
bool HasMpi() noexcept;

// This process's member among the ranks of MPI_COMM_WORLD. Collective: each rank calls it equally
// often. The first call initialises MPI, unless the program has done so with at least
// MPI_THREAD_SERIALIZED; MPI is then finalised at exit. A failed run ends when the failed rank's
// program exits: MPI_Abort() ends ranks that are still busy seconds later. Uses only point-to-point
// messages, so sums do not depend on the MPI library. Throws Error (kUnsupported) if HasMpi() is
// false.
std::unique_ptr<Collective> MpiCollective(const CollectiveOptions& options = {});

}  // namespace recpack::train
