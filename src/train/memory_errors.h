// What a training says when memory ends.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace recpack {

// Does `work`. Throws what it throws; where memory was not to be had, of a device or of the host,
// OutOfMemory that says besides that it was for `where` ("cpu:1") and `batch_size` samples at a
// time, and what to do.
void WithMemoryErrors(const std::string& where, size_t batch_size,
                      const std::function<void()>& work);

}  // namespace recpack
