// Observes a running process and waits for its end.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "src/probe/util/unseen.h"

namespace recpack::probe {

struct WatchedProcessOptions {
  std::string proc = "/proc";
  bool use_pidfd = true;  // needs Linux 5.3; otherwise Wait() polls
};

// Not thread-safe.
class WatchedProcess {
 public:
  // Throws Error (kNotFound) if there is no such process, and Error (kInvalidArgument) if `process`
  // is below 1 or the number of a thread.
  explicit WatchedProcess(int process, const WatchedProcessOptions& options = {});
  ~WatchedProcess();

  int process() const noexcept;
  const std::string& name() const noexcept;  // empty: hidden
  const std::string& user() const noexcept;  // name or number; empty: hidden

  // Returns what the process hides, as it belongs to another user.
  const std::vector<Unseen>& unseen() const noexcept;

  // Waits for the process's end. Returns false after `timeout`. The exit code is known to its
  // parent only.
  bool Wait(std::chrono::nanoseconds timeout);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack::probe
