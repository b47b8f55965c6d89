// Compact list of a manifest's shards, at about 60 bytes per shard.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <optional>
#include <string>

#include "recpack/base/hash.h"
#include "recpack/record/compression.h"
#include "src/shards/manifest/name_list.h"

namespace recpack {

struct ManifestShard {
  std::string file;  // name within the folder
  uint64_t records = 0;
  uint64_t bytes = 0;
  Compression compression = Compression::kNone;
  std::optional<Sha256Digest> sha256 = {};  // empty: not computed
};

// Elements are returned by value: do not keep references. Concurrent reads are safe.
class ShardList {
 public:
  ShardList() = default;
  ShardList(std::initializer_list<ManifestShard> shards);

  void push_back(const ManifestShard& shard);

  ManifestShard operator[](size_t i) const;
  size_t size() const noexcept { return rows_.size(); }
  bool empty() const noexcept { return rows_.empty(); }
  ValueIterator<ShardList> begin() const { return {*this, 0}; }
  ValueIterator<ShardList> end() const { return {*this, size()}; }

  const NameList& files() const noexcept { return files_; }
  uint64_t records() const;
  uint64_t bytes() const;

 private:
  struct Row {
    uint64_t records = 0;
    uint64_t bytes = 0;
    Sha256Digest sha256 = {};
    bool has_sha256 = false;
    Compression compression = Compression::kNone;
  };

  NameList files_;
  std::deque<Row> rows_;  // grows without copying, which would need three times the memory
};

}  // namespace recpack
