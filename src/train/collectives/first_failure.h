// Why the threads of a process cannot go on together.
#pragma once

#include <exception>
#include <mutex>
#include <utility>

namespace recpack::train {

// What one thread met, to be told by all that it brings to an end. Any thread.
class FirstFailure {
 public:
  void Set(std::exception_ptr failure) noexcept {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
  }
  void ThrowIfSet() {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace recpack::train
