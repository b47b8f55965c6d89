// Errors for failed allocations that say what the memory was for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "recpack/base/out_of_memory.h"

namespace recpack::train {

// Runs `work`, and adds `what` to the message of an OutOfMemory that it throws.
template <typename Work>
auto WithMemoryFor(const std::string& what, const Work& work) {
  try {
    return work();
  } catch (const OutOfMemory& error) {
    throw OutOfMemory(error.reason() + ", for " + what, error.advice());
  }
}

// Allocates `count` zeros in host memory. Throws OutOfMemory with the size in bytes and `what`.
std::vector<float> HostFloats(size_t count, const std::string& what);

}  // namespace recpack::train
