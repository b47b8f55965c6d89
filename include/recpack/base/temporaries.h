// Files that a killed writer never renamed into place.
#pragma once

#include <functional>
#include <string>

namespace recpack {

// Removes the temporary files NAME.tmp and NAME.tmp-PID (WriteFileAtomically() makes the latter)
// from a folder, where `is_stale` says so of NAME. Throws Error (kIo).
void RemoveTemporaries(const std::string& folder,
                       const std::function<bool(const std::string& name)>& is_stale);

}  // namespace recpack
