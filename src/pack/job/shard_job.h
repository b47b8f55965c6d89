// Packs one planned shard.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "src/pack/job/pack.h"
#include "src/pack/job/pack_folder.h"
#include "src/pack/plan/plan.h"
#include "src/shards/manifest/sidecar.h"

namespace recpack::pack {

// State shared by the workers of one job.
struct JobState {
  const Source& source;
  const PackOptions& options;
  const Plan& plan;
  PackFolder& folder;
  std::atomic<bool> stop = false;                    // a worker failed: all others stop
  std::atomic<uint64_t> skipped = 0;                 // items skipped so far, in all shards
  uint64_t skip_limit = 0;                           // items
  std::function<void(uint64_t bytes)> on_item = {};  // planned bytes of an item; thread-safe
};

// Reader of one thread, created when first needed.
using ReaderSlot = std::unique_ptr<ItemReader>;

// Writes the shard, its part of the index and its sidecar, and publishes it, with one thread per
// reader. Returns false if the job was stopped or too many items were skipped; then, and if it
// throws Error, the shard's files are removed.
bool PackShard(JobState& job, const PlannedShard& shard, std::span<ReaderSlot> readers,
               Sidecar& sidecar);

}  // namespace recpack::pack
