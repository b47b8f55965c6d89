// Lists of files with fields, in CSV or JSON lines, as a source of items (docs/sources.md).
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

// Kinds of features, each holding what the ones before it hold.
enum class ListType : uint8_t { kInt64, kFloat, kBytes };

// Reads "zip=bytes,score=float"; "" gives none. Throws Error (kInvalidArgument).
std::vector<std::pair<std::string, ListType>> ParseListTypes(std::string_view text);

struct ListOptions {
  // .csv, .tsv (tabs), .jsonl or .ndjson. Relative file names in it are relative to its folder.
  std::string path = {};

  // From columns. `image` names the column of file names (default: `path`, else a CSV's first one),
  // `label` the label's (default: `label`), `split` the split's (default: `split`).
  FieldMap fields = {};

  // Columns whose type is not to be told by their values: {"zip", ListType::kBytes}. A label's may
  // be named, too: as bytes, numbers become class names.
  std::vector<std::pair<std::string, ListType>> types = {};

  ImageOptions image = {};

  // Files looked up at once when opening; 0: AvailableThreads().
  int threads = 0;
};

// Opens a list: each row is an item, in the list's order within its split. The file becomes
// image/encoded, image/format, image/height, image/width and image/filename; the label becomes
// image/class/label, and where labels are texts these are numbered in sorted order and kept as
// image/class/text; any other column becomes a feature of its name: int64 if all of its values are
// whole numbers, float if all are numbers, else bytes; where all are whole and one is no int64, its
// type has to be told. Empty cells and nulls give no feature. Without a split column all rows are
// in "train".
//
// Memory: 24 bytes a row; while opening also the list itself.
//
// Throws Error, with list and line: kNotFound, kIo, kCorrupt for rows that are broken, have another
// number of cells than the header or no file name, kInvalidArgument for columns that are missing or
// not of their type. Read() as the folder's.
std::unique_ptr<Source> OpenList(const ListOptions& options);

// Whether its name ends as a list's.
bool LooksLikeList(const std::string& path);

}  // namespace recpack::pack
