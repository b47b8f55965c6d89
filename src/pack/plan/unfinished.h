// Packs that were begun and are not finished (docs/format/plan.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/shards/layout/layout.h"

namespace recpack::pack {

struct UnfinishedPack {
  std::string plan;      // its path
  uint64_t planned = 0;  // shards, of all splits
  uint64_t missing = 0;  // of these

  // What the plan at that path says, and what is to be done.
  std::string Reason() const;
};

// The pack of the layout's folder, if some of its shards are missing. Nothing where a manifest says
// that all is there, where no plan of ours is, as in folders of others', and where files or a
// pattern were named: they are all that was asked for. Throws Error (kCorrupt, kUnsupported, kIo)
// for a plan that cannot be read.
std::optional<UnfinishedPack> FindUnfinished(const Layout& layout);

// Shards of a folder without a manifest that are not there.
struct MissingShards {
  std::string split;
  uint64_t missing = 0;
  uint64_t all = 0;
  bool by_names = false;  // else by the index

  std::string Reason() const;
};

// Of the first split that lacks some: by the index beside them, else by the numbers in the
// names ("-00001-of-00003"). Nothing where there is a manifest, and where files or a pattern were
// named.
std::optional<MissingShards> FindMissingShards(const Layout& layout);

// FindLayout() for those who take the shards that are there for all of the data: throws Error
// (kNotFound) where the pack is unfinished or shards are missing, and as FindUnfinished() does.
// `is_all`: off where more paths make up the data set, whose shards may lie in several folders.
Layout FindFinishedLayout(const std::string& path, bool is_all = true);

}  // namespace recpack::pack
