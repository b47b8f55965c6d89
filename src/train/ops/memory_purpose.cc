#include "src/train/ops/memory_purpose.h"

#include <new>
#include <stdexcept>

namespace recpack::train {

std::vector<float> HostFloats(size_t count, const std::string& what) {
  try {
    return std::vector<float>(count);
  } catch (const std::bad_alloc&) {     // NOLINT(bugprone-empty-catch): reported below
  } catch (const std::length_error&) {  // NOLINT(bugprone-empty-catch)
  }
  return WithMemoryFor(what, [&]() -> std::vector<float> {
    throw OutOfMemory(HostMemoryError(count * sizeof(float)).what());
  });
}

}  // namespace recpack::train
