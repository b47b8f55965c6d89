#include "tools/rectrain/ranks.h"

#include <chrono>
#include <exception>

#include "src/train/collectives/launch/join.h"

namespace recpack::tool {
namespace {

// For processes that start a little later. Those that fail in the same way join as well.
constexpr auto kMoment = std::chrono::seconds(10);

bool joined = false;  // or tried to; set by the main thread

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
    if (joined) return;  // the others learn of it there
    const train::LaunchPlace place = train::LaunchPlace::FromEnvironment();
    const bool of_mpi =
        place.launcher == train::Launcher::kOpenMpi || place.launcher == train::Launcher::kHydra;
    if (place.size == 1 || of_mpi) return;
    train::JoinRanks(place, {.timeout = kMoment, .connect_timeout = kMoment})->Abort(reason);
  } catch (const std::exception&) {
    // They are not there, or have failed themselves.
  }
}

}  // namespace recpack::tool
