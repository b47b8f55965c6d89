// Table of a list: its rows by split, its columns and their features.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/pack/sources/list/list.h"
#include "src/pack/sources/list/list_rows.h"
#include "src/shards/files/folder_listing.h"

namespace recpack::pack {

struct ListItem {
  ListRow row;
  uint64_t file_size = 0;  // bytes; 0 also if the file does not exist
};
static_assert(sizeof(ListItem) == 24);  // docs/reference/sources.md says so

// A column that becomes a feature.
struct ListFeature {
  std::string name;
  size_t column = 0;
};

struct ListTable {
  explicit ListTable(const ListOptions& options);

  std::string list_path;
  std::unique_ptr<ReadableFile> list;
  FolderTree folder;  // file names are relative to it
  ListFormat format;
  std::vector<ListType> types;  // of columns
  size_t path_column = 0;
  std::optional<size_t> label_column;
  std::optional<size_t> split_column;
  std::vector<ListFeature> features;             // of columns other than path, label and split
  std::vector<std::vector<size_t>> features_of;  // numbers of the features, by column
  std::vector<std::string> classes;  // sorted label texts; empty: numeric labels, or none
  bool sorted_by_class = false;
  std::vector<SourceSplit> splits;
  std::vector<std::vector<ListItem>> items;  // by split
};

// Returns the error with the list and line as its place.
Error AtLine(const Error& error, const std::string& list_path, uint32_t line);

}  // namespace recpack::pack
