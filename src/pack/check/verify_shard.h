// Checks one shard: its records, its size and checksum, and its entries in the index.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/pack/check/picture_features.h"
#include "src/pack/check/verify.h"
#include "src/shards/index/index_check.h"
#include "src/shards/index/indexed_shards.h"
#include "src/shards/manifest/manifest.h"

namespace recpack::pack {

struct ShardTask {
  std::string path;
  std::optional<ManifestShard> expected;
  const IndexedShards* indexed = nullptr;     // from the index of its split, if any
  const PictureFeatures* pictures = nullptr;  // of its split; null: decode nothing
  uint64_t records = 0;
  uint64_t bytes = 0;
  std::vector<Finding> findings;
  std::optional<IndexCheck::Difference> of_index = {};

  void Add(std::string reason, std::optional<uint64_t> offset = {},
           std::optional<uint64_t> ordinal = {}) {
    findings.push_back({path, offset, ordinal, std::move(reason)});
  }
};

// Reads the shard and fills in what was found. Throws nothing that is damage.
void CheckShard(ShardTask& task);

}  // namespace recpack::pack
