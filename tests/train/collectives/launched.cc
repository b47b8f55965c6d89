// Prints a line for each rank that a launcher started, with the sum of rank + 1 over all ranks.
// With an argument, the rank of that number then aborts, or with `die` is killed, while the others
// wait for it.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "recpack/base/error.h"
#include "src/train/collectives/launch/join.h"

namespace recpack::train {
namespace {

void Run(int failing, bool dies) {
  const LaunchPlace place = LaunchPlace::FromEnvironment();
  const auto collective = JoinRanks(place);
  const auto values = GatherValues(*collective, static_cast<uint64_t>(collective->rank()) + 1);
  const auto sum = std::accumulate(values.begin(), values.end(), uint64_t{0});
  std::printf("rank %d of %d, local %d of %d, by %s: %d\n", collective->rank(), collective->size(),
              place.local_rank, place.local_size, LauncherName(place.launcher),
              static_cast<int>(sum));
  std::fflush(stdout);
  if (collective->rank() == failing && dies) std::raise(SIGKILL);
  if (collective->rank() == failing) collective->Abort("the disk is full");
  collective->Barrier();
}

}  // namespace
}  // namespace recpack::train

int main(int argc, char** argv) {
  try {
    recpack::train::Run(argc > 1 ? std::atoi(argv[1]) : -1, argc > 2);
    return 0;
  } catch (const recpack::Error& error) {
    std::fprintf(stderr, "launched: %s\n", error.what());
    return 2;
  }
}
