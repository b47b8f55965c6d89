// Detects packs that were started and not finished (docs/format/plan.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/shards/layout/layout.h"

namespace recpack::pack {

struct UnfinishedPack {
  std::string plan;      // path of the plan
  uint64_t planned = 0;  // shards of all splits
  uint64_t missing = 0;  // of these

  // Message for the user: how many shards are missing, and what to do.
  std::string Reason() const;
};

// Returns the unfinished pack in the folder of the layout. Returns nullopt if a manifest shows that
// the pack is complete, if there is no Recpack plan (as in data sets of other programs), and if
// files or a pattern were named, which are then the whole data set. Throws Error (kCorrupt,
// kUnsupported, kIo) if the plan cannot be read.
std::optional<UnfinishedPack> FindUnfinished(const Layout& layout);

// Returns the number of tasks of the pack that was begun in a folder or URL. Returns nullopt if
// there is none, and for a pack of one task into a store, whose plan is not there. Throws Error
// (kCorrupt, kUnsupported, kIo).
std::optional<uint32_t> TasksBegun(const std::string& out);

// Missing shards of a split in a folder without a manifest.
struct MissingShards {
  std::string split;
  uint64_t missing = 0;
  uint64_t all = 0;
  bool by_names = false;  // found by shard names; else by the index

  std::string Reason() const;
};

// Returns the first split that lacks shards, judging by the index of the split or else by the
// numbers in the shard names ("-00001-of-00003"). Returns nullopt if there is a manifest, and if
// files or a pattern were named.
std::optional<MissingShards> FindMissingShards(const Layout& layout);

// FindLayout() for callers that need the whole data set: throws Error (kNotFound) if the pack is
// unfinished or shards are missing, and as FindUnfinished() does. Pass `is_all` = false if several
// paths make up the data set, whose shards may be spread over the folders.
Layout FindFinishedLayout(const std::string& path, bool is_all = true);

}  // namespace recpack::pack
