// Source for lists of files with fields, as CSV or JSON lines (docs/reference/sources.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "recpack/example/field_map.h"
#include "src/pack/item/image_options.h"
#include "src/pack/item/source.h"

namespace recpack::pack {

// Types of features; each can represent the values of the ones before it.
enum class ListType : uint8_t { kInt64, kFloat, kBytes };

// Parses "zip=bytes,score=float"; "" gives an empty list. Throws Error (kInvalidArgument).
std::vector<std::pair<std::string, ListType>> ParseListTypes(std::string_view text);

struct ListOptions {
  // A .csv, .tsv (tabs), .jsonl or .ndjson file. File names in it are relative to its folder.
  std::string path = {};

  // Maps columns to features. `image`, or `audio` where there is none, names the column of file
  // names (default: `path`, else the first column of a CSV), `label` the label's (default:
  // `label`), `split` the split's (default: `split`).
  FieldMap fields = {};

  // Column types that override the inferred ones: {"zip", ListType::kBytes}. A label column of type
  // kBytes makes its numbers class names.
  std::vector<std::pair<std::string, ListType>> types = {};

  ImageOptions image = {};

  // Number of threads that look up files while opening; 0: AvailableThreads().
  int threads = 0;
};

// Opens a list: each row is an item, in list order within its split. The file becomes
// image/encoded, image/format, image/height, image/width and image/filename. The label becomes
// image/class/label; text labels are numbered in sorted order, and their text becomes
// image/class/text. Sounds have the features of docs/reference/sources.md instead. Any other column
// becomes a feature of its name: int64 if all values are whole numbers, float if all are numbers,
// else bytes; if one of a float column is whole and beyond 2^53, the type must be given. Empty
// cells and nulls give no feature. Without a split column all rows are in "train".
//
// Memory: 24 bytes a row; while opening also the list itself.
//
// Throws Error with list and line: kNotFound, kIo, kCorrupt for rows that are malformed, have no
// file name or a different number of cells than the header, kInvalidArgument for missing columns
// and for values that do not match their type. Read() throws as for folders.
std::unique_ptr<Source> OpenList(const ListOptions& options);

// Tells whether `path` has the file extension of a list.
bool LooksLikeList(const std::string& path);

}  // namespace recpack::pack
