// Thread creation that reports failures as Error.
#pragma once

#include <system_error>
#include <thread>
#include <utility>

#include "recpack/base/error.h"

namespace recpack {

// Starts a std::thread or std::jthread that runs `run`. Throws Error (kIo) if the system cannot
// create it.
template <typename Thread = std::thread, typename Run>
Thread StartThread(Run&& run) {
  try {
    return Thread(std::forward<Run>(run));
  } catch (const std::system_error& error) {
    throw Error(ErrorKind::kIo, "a thread cannot be started: " + error.code().message(), {},
                "use fewer threads or devices, or raise the limits on threads (ulimit -u, the "
                "container's process limit) and on memory for their stacks");
  }
}

}  // namespace recpack
