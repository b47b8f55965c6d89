#include "tools/rectrain/ranks.h"

#include <chrono>
#include <exception>

#include "src/train/collectives/join.h"

namespace recpack::tool {
namespace {

// For others that start a little later. Those that fail alike come as well.
constexpr auto kMoment = std::chrono::seconds(10);

bool joined = false;  // or tried; by the main thread

}  // namespace

train::JoinProcesses JoinLaunched(const train::LaunchPlace& place,
                                  const train::CollectiveOptions& options) {
  if (place.size == 1) return {};
  return [place, options] {
    joined = true;
    return train::JoinRanks(place, options);
  };
}

void TellOtherRanks(const std::string& reason) noexcept {
  try {
    if (joined) return;  // they know
    const train::LaunchPlace place = LaunchPlace::FromEnvironment();
    const bool of_mpi = place.launcher == Launcher::kOpenMpi || place.launcher == Launcher::kHydra;
    if (place.size == 1 || of_mpi) return;
    train::JoinRanks(place, {.timeout = kMoment, .connect_timeout = kMoment})->Abort(reason);
  } catch (const std::exception&) {
    // They are not there, or have failed themselves.
  }
}

}  // namespace recpack::tool
