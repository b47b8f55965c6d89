// Forks since the process began, seen from the child.
#pragma once

#include <cstdint>

namespace recpack {

// 0 in the process that was started, more in each child by fork.
uint64_t ForksBehind() noexcept;

// Made with an object whose threads a forked child does not have.
class ForkMark {
 public:
  ForkMark() noexcept : made_(ForksBehind()) {}

  // Whether this process is a child forked since.
  bool inherited() const noexcept { return ForksBehind() != made_; }

 private:
  const uint64_t made_;
};

}  // namespace recpack
