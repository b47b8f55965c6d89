// Folder listing by descriptor: names and sizes, without opening files.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "recpack/base/descriptor.h"

namespace recpack {

struct ListedFile {
  uint64_t size = 0;
  uint64_t name = 0;  // offset of its name in FolderListing::names
};

// Contents of one folder, without hidden names.
struct FolderListing {
  std::vector<ListedFile> files;     // sorted by name; a dangling link counts as a file of size 0
  std::string names;                 // zero-terminated names
  std::vector<std::string> folders;  // sorted
  uint64_t special_files = 0;        // neither files nor folders
  uint64_t hidden = 0;
  std::optional<std::pair<dev_t, ino_t>> identity = {};  // none in a store, which has no links
};

// Lists folders below a root folder, on the disk or in an object store. Thread-safe.
class FolderTree {
 public:
  // Throws Error: kNotFound, kIo, kInvalidArgument if `path` is not a folder. An s3:// or gs:// URL
  // is not looked at.
  explicit FolderTree(const std::string& path);

  // Lists a folder. `path` is relative to the root, "" for the root itself. Follows links. Throws
  // Error (kIo).
  FolderListing List(const std::string& path) const;

  bool is_remote() const noexcept { return is_remote_; }
  int descriptor() const noexcept { return root_.get(); }  // of a local root

  // Returns the path for messages.
  std::string FullPath(const std::string& path) const;

 private:
  std::string root_path_;
  bool is_remote_;
  Descriptor root_;
};

}  // namespace recpack
