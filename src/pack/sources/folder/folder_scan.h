// Scans a folder for splits, classes and files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/pack/item/source.h"
#include "src/pack/sources/folder/folder.h"
#include "src/shards/files/folder_listing.h"

namespace recpack::pack {

// Kept at 24 bytes, since a data set may have many millions.
struct FolderItem {
  uint64_t size = 0;
  uint64_t name = 0;    // offset of its name in FolderTable::names
  uint32_t folder = 0;  // into FolderTable::folders
};
static_assert(sizeof(FolderItem) == 24);  // docs/reference/sources.md says so

struct FolderPlace {
  std::string path;    // relative to the root; ends with a slash unless empty
  int32_t label = -1;  // class of the folder; -1: none
};

struct FolderTable {
  std::vector<SourceSplit> splits;
  std::vector<uint64_t> first_items;  // of each split, into `items`
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
