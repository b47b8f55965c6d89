// Rules that name one cause of waits for an object store each. They set bottleneck and cure, add to
// the evidence and return true if they hold; they return false otherwise, and change nothing.
#pragma once

#include "src/probe/store/store_work.h"
#include "src/probe/verdict/cause.h"

namespace recpack::probe {

// Data was read before and could be in the cache on a local disk, whose limit is too low.
bool CacheIsTooSmall(const StoreWork& work, Cause& cause);

// The store asks for fewer requests.
bool StoreThrottles(const StoreWork& work, Cause& cause);

// Answers begin late.
bool StoreAnswersLate(const StoreWork& work, Cause& cause);

// Answers take long from their first byte to the last.
bool LinkIsSlow(const StoreWork& work, Cause& cause);

}  // namespace recpack::probe
