// First exception among the threads of a process, rethrown in all of them.
#pragma once

#include <exception>
#include <mutex>
#include <utility>

namespace recpack::train {

// Thread-safe.
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
