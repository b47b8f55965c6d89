// Finds shards in an index by their names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "recpack/record/index.h"

namespace recpack {

// 4 bytes a shard. Immutable; any number of threads.
class IndexedShards {
 public:
  explicit IndexedShards(Index index);

  const Index& index() const { return index_; }
  // Number of the shard in the index; nothing where it lists none of this file name. O(log shards).
  std::optional<size_t> Find(std::string_view name) const;

 private:
  Index index_;
  std::vector<uint32_t> by_name_;  // shards in the order of their names
};

}  // namespace recpack
