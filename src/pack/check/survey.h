// Collects counts and schema of data sets, from manifests or else from shards.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "recpack/example/view.h"
#include "src/shards/layout/layout.h"

namespace recpack::pack {

struct SurveyOptions {
  int threads = 0;  // 0: AvailableThreads()
  // Count classes even if an index gives the number of records; this reads all records.
  bool classes = false;
  // Changes each parsed record before it is looked at; called from several threads. Schema and
  // classes are then taken from the records, not from a manifest. An Error gets the shard's path.
  std::function<void(ExampleView& record)> map = {};
  // Called from time to time, never concurrently, from any thread: shard bytes read, and total.
  std::function<void(uint64_t bytes, uint64_t total_bytes)> progress = {};
};

struct Survey {
  Manifest manifest;
  bool classes_counted = true;  // false: there are classes, and not all records were read
};

// Returns the bytes of the shards that SurveyDataset() would read as a whole: those that neither a
// manifest nor an index describes.
uint64_t BytesToSurvey(const std::vector<Layout>& layouts, const SurveyOptions& options = {});

// Returns the layout's manifest if there is one, and no `map`. Otherwise, for each shard: takes its
// count and size from the index beside it, and the schema from its first records; without such an
// index, reads and checks every record. Counts the classes (the feature `image/class/label` or
// `label`, if it is a single int64) of splits that are read as a whole. Of several layouts, splits
// of one name become one, as in JoinLayouts(). Throws Error at the first damage.
Survey SurveyDataset(const std::vector<Layout>& layouts, const SurveyOptions& options = {});

}  // namespace recpack::pack
