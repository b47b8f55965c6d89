// Folders and paths: creation, status and syncing of folders, normalisation of paths.
#pragma once

#include <filesystem>
#include <string>

namespace recpack {

// Creates the folder and its missing parents. With `durable`, returns when the new folders are
// durable. Throws Error (kIo).
void MakeFolder(const std::string& path, bool durable = false);

// Returns the status of a path; file_type::not_found if it does not exist. Throws Error (kIo) if it
// cannot be determined: no permission, or a loop of symbolic links.
std::filesystem::file_status FileStatus(const std::string& path);

// Syncs a folder: returns when the names of the files and folders in it are durable. An empty path
// is the working directory. Throws Error (kNotFound, kIo).
void SyncFolder(const std::string& folder);

// Makes a path absolute and removes "." and ".." and a trailing slash, without access to the file
// system. filename() of the result is the last component, empty only for "/".
inline std::filesystem::path PlainPath(const std::string& path) {
  std::filesystem::path plain = std::filesystem::absolute(path).lexically_normal();
  return plain.has_filename() ? plain : plain.parent_path();
}

}  // namespace recpack
