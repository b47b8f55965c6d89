// A process that runs already, to be watched.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "src/probe/util/unseen.h"

namespace recpack::probe {

struct WatchedProcessOptions {
  std::string proc = "/proc";
  bool use_pidfd = true;  // Linux 5.3; else it is looked at now and then
};

// One thread.
class WatchedProcess {
 public:
  // Throws Error (kNotFound, kInvalidArgument) where there is no such process, or where `process`
  // is the number of a thread.
  explicit WatchedProcess(int process, const WatchedProcessOptions& options = {});
  ~WatchedProcess();

  int process() const noexcept;
  const std::string& name() const noexcept;  // empty: hidden
  const std::string& user() const noexcept;  // a name or number; empty: hidden

  // What another user's process hides.
  const std::vector<Unseen>& unseen() const noexcept;

  // Whether it has ended; waits for that up to `timeout`. How it ended only its parent knows.
  bool Wait(std::chrono::nanoseconds timeout);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack::probe
