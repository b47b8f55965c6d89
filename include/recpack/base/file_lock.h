// Advisory locks: flock(2), held until the descriptor or its process is gone.
#pragma once

#include <optional>
#include <string>

#include "recpack/base/descriptor.h"

namespace recpack {

// The lock, shared or not, or nothing where another holds it. Makes the file. Throws Error (kIo).
std::optional<Descriptor> TryLock(const std::string& path, bool shared = false);

// The lock, not shared, once nobody else holds it. Throws Error (kIo).
Descriptor WaitForLock(const std::string& path);

}  // namespace recpack
