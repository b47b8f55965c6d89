// Threads that cannot be started say so.
#pragma once

#include <system_error>
#include <thread>
#include <utility>

#include "recpack/base/error.h"

namespace recpack {

// A std::thread or std::jthread that runs `run`. Throws Error (kIo) where the system gives none.
template <typename Thread = std::thread, typename Run>
Thread StartThread(Run&& run) {
  try {
    return Thread(std::forward<Run>(run));
  } catch (const std::system_error& error) {
    throw Error(ErrorKind::kIo, "a thread cannot be started: " + error.code().message(), {},
                "use fewer threads or devices, or allow more of them (ulimit -u, a container's "
                "limit of processes) and memory for their stacks");
  }
}

}  // namespace recpack
