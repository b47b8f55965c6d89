// Files that a killed packer never renamed into place.
#pragma once

#include <functional>
#include <string>

namespace recpack {

// Removes temporary files of recpack's from a folder, where `is_stale` says so. It is asked with
// the name of the file that was being written. Throws Error (kIo).
void RemoveTemporaries(const std::string& folder,
                       const std::function<bool(const std::string& name)>& is_stale);

}  // namespace recpack
