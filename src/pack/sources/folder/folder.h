// Folders of files as a source of items (docs/sources.md).
#pragma once

#include <memory>
#include <string>

#include "src/pack/item/image_options.h"
#include "src/pack/item/source.h"

namespace recpack::pack {

struct FolderOptions {
  std::string path = {};

  // How the folders directly below `path` are understood. kAuto: as splits if one of them is called
  // train, or if all are called train, val, validation or test; else as classes.
  enum class Layout { kAuto, kSplits, kClasses } layout = Layout::kAuto;

  // Folders scanned at once; 0: AvailableThreads(). Does not change the result.
  int threads = 0;

  ImageOptions image = {};
};

// Opens PATH[/SPLIT]/CLASS/.../FILE: files of any type, sorted by path; the folder below the split
// is the class. A split without class folders holds its files without labels; files beside class
// folders are left out, and so are hidden files and special files (Notices() counts them). Links
// are followed.
//
// Memory: 24 bytes and the file's name, twice that while scanning.
//
// Throws Error: kNotFound, kIo for a folder that cannot be read, kInvalidArgument for a path that
// holds no files, a class without files, folders that may be splits or classes, and a link to a
// folder that holds the link. Read() throws kCorrupt for an empty file, a file whose size is not
// the one scanned, and an image whose header is broken; kNotFound for one that is gone.
std::unique_ptr<Source> OpenFolder(const FolderOptions& options);

// Whether it is a folder at all.
bool LooksLikeFolder(const std::string& path);

}  // namespace recpack::pack
