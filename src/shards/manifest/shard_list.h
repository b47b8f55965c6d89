// The shards of a split as the manifest lists them, at about 60 bytes a shard.
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

// Elements are values: a reference to one would dangle. Reading is safe for any number of threads.
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
  std::deque<Row> rows_;  // grows without moving, which would take three times the room
};

}  // namespace recpack
