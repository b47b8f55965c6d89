// Gives each process an instance of its own.
#pragma once

#include <unistd.h>

#include <atomic>
#include <memory>

namespace recpack::remote {

// A forked child must not use its parent's instance: a thread that does not exist in the child may
// hold its locks. Instances are never destroyed. Thread-safe.
template <typename T>
class PerProcess {
 public:
  // Returns the calling process's instance; makes it at the first call, and anew in a forked child.
  T& Get() {
    Held* there = current_.load(std::memory_order_acquire);
    while (there == nullptr || there->process != ::getpid()) {
      auto made = std::make_unique<Held>();
      if (current_.compare_exchange_strong(there, made.get(), std::memory_order_acq_rel)) {
        there = made.release();
      }
    }
    return there->value;
  }

 private:
  struct Held {
    const pid_t process = ::getpid();
    T value;
  };

  std::atomic<Held*> current_ = nullptr;
};

}  // namespace recpack::remote
