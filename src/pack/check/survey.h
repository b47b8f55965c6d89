// What a manifest would say of shards that have none.
#pragma once

#include <cstdint>
#include <functional>

#include "src/shards/layout/layout.h"

namespace recpack::pack {

struct SurveyOptions {
  int threads = 0;  // 0: AvailableThreads()
  // Count the classes even where an index tells how many records there are: reads all of them.
  bool classes = false;
  // Called now and then, one call at a time, from any thread: bytes of shards read, and of all.
  std::function<void(uint64_t bytes, uint64_t total_bytes)> progress = {};
};

struct Survey {
  Manifest manifest;
  bool classes_counted = true;  // false: there are classes, but an index told the counts
};

// The bytes of shards that SurveyDataset() would read; but a few where there is a manifest or an
// index that fits the shards.
uint64_t BytesToSurvey(const Layout& layout, const SurveyOptions& options = {});

// The layout's own manifest if it has one. Else, of each split: counts and sizes by its index where
// that fits the shards, and the schema of the first records of each shard; or all that by reading
// and checking every record once, and the classes, too (by the feature `image/class/label` or
// `label`, where it is one int64). Throws Error at the first damage.
Survey SurveyDataset(const Layout& layout, const SurveyOptions& options = {});

}  // namespace recpack::pack
