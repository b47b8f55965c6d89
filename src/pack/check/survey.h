// Collects counts and schema of data sets without a manifest.
#pragma once

#include <cstdint>
#include <functional>

#include "src/shards/layout/layout.h"

namespace recpack::pack {

struct SurveyOptions {
  int threads = 0;  // 0: AvailableThreads()
  // Count classes even if an index gives the number of records; this reads all records.
  bool classes = false;
  // Called from time to time, never concurrently, from any thread: shard bytes read, and total.
  std::function<void(uint64_t bytes, uint64_t total_bytes)> progress = {};
};

struct Survey {
  Manifest manifest;
  bool classes_counted = true;  // false: there are classes, but only the index was read
};

// Returns the shard bytes that SurveyDataset() would read; only a few if there is a manifest or an
// index that fits the shards.
uint64_t BytesToSurvey(const Layout& layout, const SurveyOptions& options = {});

// Returns the layout's manifest if there is one. Otherwise, for each split: takes counts and sizes
// from an index that fits the shards, and the schema from the first records of each shard; without
// such an index, reads and checks every record and also counts the classes (the feature
// `image/class/label` or `label`, if it is a single int64). Throws Error at the first damage.
Survey SurveyDataset(const Layout& layout, const SurveyOptions& options = {});

}  // namespace recpack::pack
