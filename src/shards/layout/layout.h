// Layout of a data set: its splits and shards, with or without a manifest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recpack/base/file.h"
#include "src/shards/manifest/manifest.h"
#include "src/shards/manifest/name_list.h"

namespace recpack {

// Entry of a shard in the manifest.
struct ListedShard {
  uint64_t records = 0;
  uint64_t bytes = 0;  // size of the file
  bool operator==(const ListedShard&) const = default;
};

// Entry of a shard that is in no manifest.
inline constexpr ListedShard kUnlisted = {.records = UINT64_MAX, .bytes = UINT64_MAX};

struct LayoutSplit {
  std::string name;
  NameList shards;    // paths, in order
  std::string index;  // path of the index, which may not exist; empty: shards in several folders
  std::vector<ListedShard> listed = {};  // manifest entries by shard; empty: no manifest

  // Returns nullopt if the shard is in no manifest.
  std::optional<ListedShard> ListedAt(size_t shard) const {
    if (listed.empty() || listed[shard] == kUnlisted) return {};
    return listed[shard];
  }
};

struct Layout {
  std::string folder;  // folder of the shards; empty for a list of files
  std::vector<LayoutSplit> splits;
  std::optional<Manifest> manifest;
  std::vector<std::string> notices = {};  // sentences about files whose split is unclear
  // Why the existing manifest was not used; set only by FindDamagedLayout().
  std::string manifest_damage = {};
};

// Finds the shards at `path`: a folder with a manifest, a folder of TFRecord files, a pattern (a
// glob, or with braces: "x-{000..012}.tfrecord", "{a,b}/*.tfrecord"; duplicates count once), one
// shard, or a manifest. Without a manifest, the split is taken from the file names: the part before
// "-00000-of-00012", else a word such as train, validation, eval or test ("train.tfrecords"), else
// "all"; Layout::notices say if that is unclear. Throws Error: kNotFound if nothing is found; kIo
// if a folder of a pattern cannot be read.
Layout FindLayout(const std::string& path);

// Like FindLayout(), but if a manifest is damaged or the disk cannot read it, takes splits and
// shards from the file names, as without a manifest, and sets `manifest_damage`. For saving what is
// left.
Layout FindDamagedLayout(const std::string& path);

// Joins layouts: each split gets its shards in the order of the layouts. The result has no manifest
// if there are several layouts. Throws Error (kInvalidArgument) for a duplicate shard.
Layout JoinLayouts(std::vector<Layout> layouts);

// Returns the class names of the manifests. Labels must mean the same in all: throws Error
// (kInvalidArgument) if names differ. Layouts without names are not checked. `paths`: where each
// layout was found.
std::vector<std::string> CommonClassNames(const std::vector<Layout>& layouts,
                                          const std::vector<std::string>& paths);

// Returns the total size of the split's shards. Missing files count as 0.
uint64_t ShardBytes(const LayoutSplit& split);

// Returns the layout with only the split of that name. Throws Error (kNotFound) that lists the
// existing splits.
Layout OnlySplit(Layout layout, const std::string& split);

// Throws Error (kCorrupt) if the shard differs from its manifest entry.
void RefuseUnlisted(const std::string& path, const ListedShard& found, const ListedShard& listed);

}  // namespace recpack
