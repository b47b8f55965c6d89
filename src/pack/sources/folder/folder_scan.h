// Finds the splits, classes and files of a folder of class folders.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/pack/item/source.h"
#include "src/pack/sources/folder/folder.h"
#include "src/shards/files/folder_listing.h"

namespace recpack::pack {

// 24 bytes, for there may be many millions.
struct FolderItem {
  uint64_t size = 0;
  uint64_t name = 0;    // where its name begins in FolderTable::names
  uint32_t folder = 0;  // into FolderTable::folders
};
static_assert(sizeof(FolderItem) == 24);  // docs/sources.md says so

struct FolderPlace {
  std::string path;    // relative to the root, with a slash at its end unless empty
  int32_t label = -1;  // of the class that the folder belongs to; -1: none
};

struct FolderTable {
  std::vector<SourceSplit> splits;
  std::vector<uint64_t> first_items;  // of each split, in `items`
  std::vector<FolderItem> items;      // by split, class, path
  std::string names;                  // each ends with a zero byte
  std::vector<FolderPlace> folders;
  std::vector<std::string> classes;  // sorted
  uint64_t special_files = 0;
  uint64_t hidden = 0;
  uint64_t beside_classes = 0;  // files beside class folders
};

FolderTable ScanFolder(const FolderTree& tree, const FolderOptions& options);

}  // namespace recpack::pack
