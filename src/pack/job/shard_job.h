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

// What the workers of one job share.
struct JobState {
  const Source& source;
  const PackOptions& options;
  const Plan& plan;
  PackFolder& folder;
  std::atomic<bool> stop = false;                    // somebody failed: give up
  std::atomic<uint64_t> skipped = 0;                 // items left out so far, in all shards
  uint64_t skip_limit = 0;                           // items
  std::function<void(uint64_t bytes)> on_item = {};  // any thread; planned bytes of one item
};

// A reader of one thread; empty until it is needed.
using ReaderSlot = std::unique_ptr<ItemReader>;

// Writes the shard, its part of the index and its sidecar, and publishes it, on as many threads as
// there are readers. Returns false where the job was stopped or the limit of skipped items passed;
// nothing is left of the shard then, nor where it throws Error.
bool PackShard(JobState& job, const PlannedShard& shard, std::span<ReaderSlot> readers,
               Sidecar& sidecar);

}  // namespace recpack::pack
