// Advisory file locks (flock(2)), held until the descriptor is closed or the process ends.
#pragma once

#include <optional>
#include <string>

#include "recpack/base/descriptor.h"

namespace recpack {

// Takes a shared or exclusive lock; returns nullopt if another process holds it. Creates the file
// if needed. Throws Error (kIo).
std::optional<Descriptor> TryLock(const std::string& path, bool shared = false);

// Blocks until it holds the exclusive lock. Throws Error (kIo).
Descriptor WaitForLock(const std::string& path);

}  // namespace recpack
