// Threads of a loader that are in functions of the user.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "python/held_errors.h"

namespace recpack::python {

// Any thread, with the GIL.
class RunningCalls {
 public:
  // The calling thread is in a function as long as this is there.
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

  // Raises SystemExit in them, once they run code of Python again.
  void Interrupt();

  // Whether the calling thread is one of them. Without the GIL, too.
  bool Inside();

 private:
  std::mutex mutex_;
  std::set<unsigned long> threads_;  // NOLINT(google-runtime-int)
};

// What a loader and its functions share.
struct SharedCalls {
  std::shared_ptr<RunningCalls> calls = std::make_shared<RunningCalls>();
  std::shared_ptr<HeldErrors> errors = std::make_shared<HeldErrors>();
};

// Interrupts calls each second, as long as it is there: a loader that ends waits for them. Without
// the GIL.
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
  std::thread thread_;  // none where the system has no more of them
};

}  // namespace recpack::python
