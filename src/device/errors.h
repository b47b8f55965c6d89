// How failures of a runtime are told, whichever runtime it is.
#pragma once

#include <cstddef>
#include <string>

#include "recpack/base/out_of_memory.h"

namespace recpack {

// `call` of the runtime failed on a device (-1: on none), which says `text`.
Error DeviceError(const std::string& call, int device, const std::string& text,
                  const std::string& advice = "");

// The same of memory of a device, and of the host's that was to be pinned.
OutOfMemory DeviceMemoryError(const std::string& call, int device, size_t bytes,
                              const std::string& text);
OutOfMemory PinError(const std::string& call, size_t bytes, const std::string& text);

}  // namespace recpack
