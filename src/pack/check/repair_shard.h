// Saves the intact records of one damaged shard.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/record/index.h"
#include "src/pack/check/repair.h"
#include "src/shards/layout/layout.h"
#include "src/shards/manifest/manifest.h"

namespace recpack::pack {

struct RepairedShard {
  ManifestShard shard;
  std::vector<LostRecords> lost;
  std::vector<size_t> surplus = {};  // numbers, rising, of saved records that it holds too often
};

// Writes the new shard to options.out and fills its index entries. `known` are the entries of its
// index, or null; `listed` is its row in the manifest. Throws Error as Repair().
RepairedShard RepairShard(const std::string& path, std::shared_ptr<const ShardEntries> known,
                          std::optional<ListedShard> listed, const RepairOptions& options,
                          ShardEntries& entries);

// Throws the error again, with advice, if permissions or limits of the system prevent reading: such
// data may be intact and is not lost.
void ThrowIfRefused(const Error& error);

}  // namespace recpack::pack
