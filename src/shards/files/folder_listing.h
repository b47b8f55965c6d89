// Lists folders by descriptor: names and sizes, nothing opened but the folders.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "recpack/base/descriptor.h"

namespace recpack {

struct ListedFile {
  uint64_t size = 0;
  uint64_t name = 0;  // where its name begins in FolderListing::names
};

// What one folder holds. Hidden names are left out.
struct FolderListing {
  std::vector<ListedFile> files;     // sorted by name; a dangling link counts as a file of size 0
  std::string names;                 // each ends with a zero byte
  std::vector<std::string> folders;  // sorted
  uint64_t special_files = 0;        // neither files nor folders
  uint64_t hidden = 0;
  std::pair<dev_t, ino_t> identity = {};
};

// The tree below one folder, through which all listings of a scan go. Any number of threads.
class FolderTree {
 public:
  // Throws Error: kNotFound, kIo, kInvalidArgument where it is no folder.
  explicit FolderTree(const std::string& path);

  // `path` is relative, "" for the folder itself. Links are followed. Throws Error (kIo).
  FolderListing List(const std::string& path) const;

  int descriptor() const noexcept { return root_.get(); }

  // The path for messages.
  std::string FullPath(const std::string& path) const;

 private:
  std::string root_path_;
  Descriptor root_;
};

}  // namespace recpack
