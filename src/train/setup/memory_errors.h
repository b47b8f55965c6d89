// What a training says when memory ends.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace recpack::train {

// Does `work`. Throws what it throws; where memory was not to be had, of a device or of the host,
// OutOfMemory that says besides that it was for batches of `batch_size` samples and where, as that
// function tells then ("cpu:1, behind step 7"), and what to do.
void WithMemoryErrors(const std::function<std::string()>& where, size_t batch_size,
                      const std::function<void()>& work);

}  // namespace recpack::train
