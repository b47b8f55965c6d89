// Tracks the threads of a loader that are in user functions.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "python/calls/held_errors.h"

namespace recpack::python {

// Thread-safe. Requires the GIL.
class RunningCalls {
 public:
  // The calling thread is in a function during the lifetime of this object.
  class Mark {
   public:
    explicit Mark(RunningCalls& calls);
    ~Mark();
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;

   private:
    RunningCalls& calls_;
    unsigned long thread_;  // NOLINT(google-runtime-int): as Python has it
  };

  // Raises SystemExit in these threads as soon as they run Python code again.
  void Interrupt();

  // Returns true if the calling thread is one of them. Does not need the GIL.
  bool Inside();

 private:
  std::mutex mutex_;
  std::set<unsigned long> threads_;  // NOLINT(google-runtime-int)
};

// State shared by a loader and its functions.
struct SharedCalls {
  std::shared_ptr<RunningCalls> calls = std::make_shared<RunningCalls>();
  std::shared_ptr<HeldErrors> errors = std::make_shared<HeldErrors>();
};

// Interrupts calls once per second during its lifetime, for a loader that waits for them to end.
// Use without the GIL.
class Interrupter {
 public:
  explicit Interrupter(RunningCalls& calls);
  ~Interrupter();
  Interrupter(const Interrupter&) = delete;
  Interrupter& operator=(const Interrupter&) = delete;

 private:
  void Run();

  RunningCalls& calls_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;  // not joinable if the system could not start a thread
};

}  // namespace recpack::python
