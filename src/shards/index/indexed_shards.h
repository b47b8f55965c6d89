// Lookup of index entries by shard name, in one index or in the indexes of the shards' folders.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "recpack/record/index.h"

namespace recpack {

// Uses 4 bytes per shard. Immutable and thread-safe.
class IndexedShards {
 public:
  explicit IndexedShards(Index index);

  const Index& index() const { return index_; }
  // Returns the number of the shard in the index, or nullopt if there is none with this file name.
  // O(log shards).
  std::optional<size_t> Find(std::string_view name) const;

 private:
  Index index_;
  std::vector<uint32_t> by_name_;  // shards sorted by name
};

// Reads the indexes of the shards' folders on demand. Thread-safe. Memory: 4 bytes per indexed
// shard.
class KnownShards {
 public:
  // The index of the shards in a folder is FOLDER/SPLIT.recindex.
  explicit KnownShards(std::string split) : split_(std::move(split)) {}

  // Returns nullopt if no index has the shard. If the size of its file has changed: returns nullopt
  // if a manifest lists the shard (`is_listed`), which is then authoritative; otherwise throws
  // Error (kCorrupt).
  std::optional<ShardEntries> Find(const std::string& path, bool is_listed);

  // Tells whether an index had any of the shards that were looked for. Thread-safe.
  bool found_any() const noexcept { return found_any_; }

  // Returns the index's line on the shard, without looking at its file; nullopt if no
  // index has the shard.
  std::optional<ShardSummary> FindSummary(const std::string& path);

 private:
  const IndexedShards* FindIndex(const std::string& shard);

  std::string split_;
  std::atomic<bool> found_any_ = false;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<const IndexedShards>> folders_;
};

}  // namespace recpack
