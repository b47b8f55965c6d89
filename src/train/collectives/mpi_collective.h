// Collectives between the processes of an MPI job: recpack::train_mpi.
#pragma once

#include <memory>

#include "src/train/collectives/collective.h"

namespace recpack::train {

// Whether this build has MPI.
bool HasMpi() noexcept;

// This process's part, of the ranks of MPI_COMM_WORLD. Each rank calls it equally often, and waits
// for the others. The first call initialises MPI, unless the program has, with at least
// MPI_THREAD_SERIALIZED; then the program's exit finalises it. A run that has failed ends with the
// program of the rank that failed: if others are still at something else after seconds, MPI_Abort()
// ends them. Only messages from rank to rank are used, so sums do not depend on the MPI library.
// Throws Error (kUnsupported) if HasMpi() is false.
std::unique_ptr<Collective> MpiCollective(const CollectiveOptions& options = {});

}  // namespace recpack::train
