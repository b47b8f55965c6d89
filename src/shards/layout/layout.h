// Where the shards of a data set are, with a manifest or without.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recpack/base/file.h"
#include "src/shards/manifest/manifest.h"
#include "src/shards/manifest/name_list.h"

namespace recpack {

// What a manifest says of a shard.
struct ListedShard {
  uint64_t records = 0;
  uint64_t bytes = 0;  // of the file
  bool operator==(const ListedShard&) const = default;
};

// Of a shard that no manifest speaks of.
inline constexpr ListedShard kUnlisted = {.records = UINT64_MAX, .bytes = UINT64_MAX};

struct LayoutSplit {
  std::string name;
  NameList shards;    // paths, in order
  std::string index;  // path of the index beside them; may not exist; empty: in several folders
  std::vector<ListedShard> listed = {};  // of each shard; empty: there is no manifest

  // Empty where no manifest speaks of the shard.
  std::optional<ListedShard> ListedAt(size_t shard) const {
    if (listed.empty() || listed[shard] == kUnlisted) return {};
    return listed[shard];
  }
};

struct Layout {
  std::string folder;  // that the shards lie in; empty for a list of files
  std::vector<LayoutSplit> splits;
  std::optional<Manifest> manifest;
  std::vector<std::string> notices = {};  // sentences: where it is not clear which files are whose
};

// `path` is a folder with a manifest, a folder of TFRecord files, a pattern (a glob, or with
// braces: "x-{000..012}.tfrecord", "{a,b}/*.tfrecord"; what several parts of it match counts once),
// one shard, or a manifest. Without a manifest, splits are told by the names: what stands before
// "-00000-of-00012", else a word such as train, validation, eval or test ("train.tfrecords"), else
// "all"; Layout::notices say where that is unclear. Throws Error: kNotFound where nothing is there,
// naming what was looked for; kIo where a folder of a pattern cannot be read.
Layout FindLayout(const std::string& path);

// The splits of all of them, in one: of each split the shards in the order in which the layouts
// come. Without a manifest where there are several. Throws Error (kInvalidArgument) for a shard
// that is there twice.
Layout JoinLayouts(std::vector<Layout> layouts);

// Sizes of the split's shards, summed. What is not there counts as nothing.
uint64_t BytesOfShards(const LayoutSplit& split);

// Only the split of that name; throws Error (kNotFound) that lists the splits there are.
Layout OnlySplit(Layout layout, const std::string& split);

}  // namespace recpack
