// Finds out what a path is, and opens it to be packed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/pack/item/source.h"
#include "src/pack/job/pack.h"

namespace recpack::pack {

// The options of `recpack pack` that say what SRC is: errors call them by their names there.
struct SourceFlags {
  std::string path;
  std::string from;                    // kind of source; empty: recognised
  std::string splits;                  // as the source understands them
  std::string split;                   // name of the one split of a source that knows none
  std::string fields;                  // TARGET=NAME,...
  std::vector<std::string> filters;    // FEATURE=VALUE, FEATURE!=VALUE
  std::optional<uint64_t> max_tokens;  // of the reviews in a record
  std::optional<uint64_t> vocabulary;  // tokens in it
  std::string vocabulary_file;
  std::optional<uint64_t> seed;  // of the split of reviews
  int64_t label_offset = 0;      // number of the first class
  std::string columns;           // COLUMN=TYPE,... of a list
  std::string layout;            // of a folder: "splits", "classes", or empty: recognised
  std::string devkit;            // ImageNet's
  std::string labels;            // of ImageNet's validation images: the kit, or a file of ids
  bool check_images = false;
  int resize = 0;
  int quality = 90;
  std::string jpeg;         // "tile", or empty: as it is
  std::string work_folder;  // for temporary files: what archives unpack to, tokens of reviews
};

// For Pack() with these options, whose threads the source gets: what the packed bytes depend on
// goes into them, and where items lie by class, `shuffle_classes` shuffles them by the seed 0.
// Throws Error: where the path is missing or is nothing that is known, listing what is; for flags
// that a source of its kind has no use for; where OUT lies within a folder that is packed, or is to
// be overwritten and holds the shards that are packed.
std::unique_ptr<Source> OpenSourceToPack(const SourceFlags& flags, bool shuffle_classes,
                                         PackOptions& options);

}  // namespace recpack::pack
