// Detects in a child process that objects were inherited by fork.
#pragma once

#include <cstdint>

namespace recpack {

// Number of forks between the original process and this one: 0 in the process itself, +1 per fork.
uint64_t ForksBehind() noexcept;

// Member of an object whose threads do not exist in a forked child.
class ForkMark {
 public:
  ForkMark() noexcept : made_(ForksBehind()) {}

  // Returns true in a child that was forked after construction.
  bool inherited() const noexcept { return ForksBehind() != made_; }

 private:
  const uint64_t made_;
};

}  // namespace recpack
