// Program with a rank that fails while the others are busy and make no further call.
#include <cstdio>
#include <thread>

#include "recpack/base/error.h"
#include "src/train/collectives/mpi/mpi_collective.h"

int main() {
  const auto collective = recpack::train::MpiCollective();
  collective->Barrier();
  if (collective->rank() != 1) std::this_thread::sleep_for(std::chrono::hours(1));
  collective->Abort("the disk is full");
  try {
    collective->Check();
  } catch (const recpack::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  return 2;
}
