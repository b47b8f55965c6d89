// Finds out what SRC is, and opens it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recpack/dataset/source.h"

namespace recpack::tool {

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
  std::string jpeg;  // "tile", or empty: as it is
  int threads = 0;
  bool shuffled = false;    // items will not be read in their order
  std::string work_folder;  // for temporary files: what archives unpack to, tokens of reviews
};

// What the packed bytes depend on goes into `settings`. Throws Error where SRC is missing or is
// nothing that is known, listing what is, and for flags that a source of its kind has no use for.
std::unique_ptr<Source> OpenSource(const SourceFlags& flags,
                                   std::map<std::string, std::string>& settings);

}  // namespace recpack::tool
