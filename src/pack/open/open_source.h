// Recognises the kind of a source and opens it for packing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/pack/item/source.h"
#include "src/pack/job/pack.h"
#include "src/pack/open/published.h"

namespace recpack::pack {

// Options of `recpack pack` that describe the source; errors use their flag names.
struct SourceFlags {
  std::string path;                    // or the name of a published data set: FindPublished()
  std::string from;                    // kind of source; empty: recognised
  std::string splits;                  // in the syntax of the source
  std::string split;                   // name of the split, for sources with a single one
  std::string fields;                  // TARGET=NAME,...
  std::vector<std::string> filters;    // FEATURE=VALUE, FEATURE!=VALUE
  std::optional<uint64_t> max_tokens;  // of the reviews in a record
  std::optional<uint64_t> vocabulary;  // number of tokens
  std::string vocabulary_file;
  std::optional<uint64_t> seed;  // for splitting reviews
  int64_t label_offset = 0;      // number of the first class
  std::string columns;           // COLUMN=TYPE,... for a list
  std::string layout;            // of a folder: "splits", "classes", or empty: recognised
  std::string devkit;            // ImageNet's
  std::string labels;            // of ImageNet's validation images: the kit, or a file of ids
  bool check_images = false;
  int resize = 0;
  int quality = 90;
  std::string jpeg;         // "tile", or empty: unchanged
  std::string work_folder;  // for temporary files: unpacked archives, tokens of reviews
  DownloadProgress download_progress;
};

// Opens the source for Pack() with `options`, and adds to them the settings that the packed bytes
// depend on. If items are sorted by class and `shuffle_classes` is set, the plan shuffles them with
// seed 0. The source uses options.threads. Throws Error if the path is missing or its kind is not
// recognised (listing the kinds), for flags that do not apply to the kind of source, if OUT lies
// within a folder that is packed, and if OUT is to be overwritten and holds the shards to pack.
std::unique_ptr<Source> OpenSourceToPack(const SourceFlags& flags, bool shuffle_classes,
                                         PackOptions& options);

}  // namespace recpack::pack
