// Source for folders of files, such as images in class folders (docs/reference/sources.md).
#pragma once

#include <memory>
#include <string>

#include "src/pack/item/image_options.h"
#include "src/pack/item/source.h"

namespace recpack::pack {

struct FolderOptions {
  std::string path = {};

  // Meaning of the folders directly in `path`. kAuto: splits if one of them is called train, or if
  // all are called train, val, validation or test; else classes.
  enum class Layout { kAuto, kSplits, kClasses } layout = Layout::kAuto;

  // Number of threads that scan folders; 0: AvailableThreads(). Does not affect the result.
  int threads = 0;

  ImageOptions image = {};
};

// Opens PATH[/SPLIT]/CLASS/.../FILE: files of any type, sorted by path; the folder below the split
// is the class. The files of a split without class folders have no labels. Files beside class
// folders, hidden files and special files are left out and counted in Notices(). Symbolic links are
// followed.
//
// Memory: 24 bytes and the file name per item, twice that while scanning.
//
// Throws Error: kNotFound, kIo for an unreadable folder, kInvalidArgument for a path without files,
// a class without files, folders that may be splits or classes, and a link to a folder that
// contains the link. Read() throws kCorrupt for an empty file, a file whose size has changed since
// the scan, and an image with a broken header or a WAV file that is cut; kNotFound for a file that
// was removed.
std::unique_ptr<Source> OpenFolder(const FolderOptions& options);

// Tells whether `path` is a folder.
bool LooksLikeFolder(const std::string& path);

}  // namespace recpack::pack
