// Error messages for a training that runs out of memory.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace recpack::train {

// Runs `work` and rethrows its exceptions. On a failed allocation, on a device or the host, throws
// OutOfMemory that also names the batch size (0: the default), the place that `where` returns
// ("cpu:1, after step 7"), and a remedy.
void WithMemoryErrors(const std::function<std::string()>& where, size_t batch_size,
                      const std::function<void()>& work);

}  // namespace recpack::train
