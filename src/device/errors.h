// Errors for failed calls of a device runtime.
#pragma once

#include <cstddef>
#include <string>

#include "recpack/base/out_of_memory.h"

namespace recpack {

// Returns the error for a failed `call` on a device (-1: on none); `text` is the runtime's message.
Error DeviceError(const std::string& call, int device, const std::string& text,
                  const std::string& advice = "");

// The same for failures to allocate device memory and to pin host memory.
OutOfMemory DeviceMemoryError(const std::string& call, int device, size_t bytes,
                              const std::string& text);
OutOfMemory PinError(const std::string& call, size_t bytes, const std::string& text);

}  // namespace recpack
