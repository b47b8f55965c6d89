// Packs a source into a folder of shards with an index and a manifest.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "recpack/base/file.h"
#include "recpack/record/writer.h"
#include "src/pack/item/source.h"
#include "src/pack/plan/plan.h"
#include "src/shards/manifest/manifest.h"

namespace recpack::pack {

struct PackOptions {
  std::string out;  // folder; made if it is not there
  PlanOptions plan;
  WriterOptions writer;  // writer.digest: SHA-256 of each shard into the manifest
  // What else the bytes depend on, by the user's option names. Pack adds its own.
  std::map<std::string, std::string> settings;
  std::string created_by = "recpack";
  // Sync every file before it is renamed into place. Off: fast, and a power cut may lose shards.
  bool sync = true;
  // 0: AvailableThreads(). Each packs a shard; where there are fewer shards, several prepare the
  // records of one (Source::items_take_work). Does not change a byte of the output.
  int threads = 0;
  // Leave bad items out and list them, up to this share of the planned items; else the first one
  // stops the job. Of all tasks: each stops at that many of its own, and where they are more
  // together no manifest is written. What says nothing of an item, such as too many open files,
  // stops the job all the same.
  bool skip_bad_items = false;
  double max_skip = 0.001;
  // This process packs the shards whose number leaves `task` when divided by `tasks`.
  uint32_t task = 0;
  uint32_t tasks = 1;
  bool append = false;      // add to the data set that is in `out`
  bool overwrite = false;   // remove what an earlier pack made in `out` first
  bool dali_index = false;  // also SHARD.idx in DALI's text form; of plain shards only
  FileSystem* files = &PosixFiles();
  // Called with the plan before the first shard is written.
  std::function<void(const Plan& plan)> planned = {};
  // Called now and then, one call at a time, from any worker: planned bytes done, and all of them.
  std::function<void(uint64_t bytes, uint64_t total_bytes)> progress = {};
};

struct PackResult {
  Plan plan;
  Manifest manifest;                 // of the whole data set, where `complete`
  std::vector<SkippedItem> skipped;  // by this task's shards, in plan order
  uint64_t shards = 0;               // made or found by this call; see VisitPackedShards
  uint64_t records = 0;              // in them
  uint64_t bytes = 0;
  uint64_t shards_found = 0;  // already complete when the call began
  bool complete = true;       // false: shards of other tasks are missing, no manifest yet
  // No manifest; `skipped` says why, as far as it was this task.
  bool skip_limit_exceeded = false;
};

// Makes the plan (or takes up one that was interrupted), writes the missing shards, then index and
// manifest. Throws Error: kInvalidArgument where `out` holds something else, another packer is at
// work in it, or source or options differ from the interrupted job's; an item's own error where
// items may not be skipped; kIo. Complete shards stay whatever happens.
PackResult Pack(const Source& source, const PackOptions& options);

// Calls `visit` with each shard that Pack, called with these options, made or found of its plan, in
// plan order. They are read from OUT one at a time, so that nobody holds them all.
void VisitPackedShards(const PackOptions& options, const Plan& plan,
                       const std::function<void(const ManifestShard& shard)>& visit);

// The plan that Pack would make, with Pack's own settings in it.
Plan PlanPack(const Source& source, const PackOptions& options);

}  // namespace recpack::pack
