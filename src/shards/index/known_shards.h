// What the indexes beside shards know of them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "src/shards/index/indexed_shards.h"

namespace recpack {

// Any number of threads. Memory: 4 bytes a shard that an index knows.
class KnownShards {
 public:
  // Of shards in a folder, FOLDER/SPLIT.recindex is asked.
  explicit KnownShards(std::string split) : split_(std::move(split)) {}

  // Nothing where no index knows the shard. Where its file has another size now, nothing if a
  // manifest lists it, which then says what is right; else throws Error (kCorrupt).
  std::optional<ShardEntries> Find(const std::string& path, bool is_listed);

 private:
  const IndexedShards* Of(const std::string& shard);

  std::string split_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<const IndexedShards>> folders_;
};

}  // namespace recpack
