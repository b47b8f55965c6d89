// Folders that survive a power cut.
#pragma once

#include <string>

namespace recpack {

// Returns when the names in the folder would survive a power cut: those of files, and of folders
// that were made in it. Empty: the working folder. Throws Error (kNotFound, kIo).
void SyncFolder(const std::string& folder);

}  // namespace recpack
