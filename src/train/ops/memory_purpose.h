// What memory is asked for, to be told where there is none.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "recpack/base/out_of_memory.h"

namespace recpack::train {

// Does `work`. OutOfMemory that it throws says besides what the memory was for.
template <typename Work>
auto WithMemoryFor(const std::string& what, const Work& work) {
  try {
    return work();
  } catch (const OutOfMemory& error) {
    throw OutOfMemory(error.reason() + ", for " + what, error.advice());
  }
}

// So many zeros in the host's memory. Throws OutOfMemory with their bytes and `what` they are for.
std::vector<float> HostFloats(size_t count, const std::string& what);

}  // namespace recpack::train
