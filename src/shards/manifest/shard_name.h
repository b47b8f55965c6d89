// File names of shards (docs/format/plan.md).
#pragma once

#include <cstdint>
#include <string>

#include "src/base/format.h"

namespace recpack {

// Returns SPLIT-SHARD-of-COUNT.tfrecord. `append`: see PlanOptions::append.
inline std::string ShardName(const std::string& split, uint32_t append, uint64_t shard,
                             uint64_t count) {
  const std::string part = append == 0 ? "" : format("-append{}", append);
  return format("{}{}-{:05}-of-{:05}.tfrecord", split, part, shard, count);
}

}  // namespace recpack
