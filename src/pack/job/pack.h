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
  std::string out;  // folder; created if it does not exist
  // URL of the results' "folder" in an object store, if out and files are a StoreTarget's; for
  // messages.
  std::string url = {};
  PlanOptions plan;
  WriterOptions writer;  // writer.digest: SHA-256 of each shard into the manifest
  // Other settings that the bytes depend on, by option name. Pack() adds its own.
  std::map<std::string, std::string> settings;
  std::string created_by = "recpack";
  // Sync every file before renaming it into place. If false, a power failure may lose shards.
  bool sync = true;
  // Number of threads; 0: AvailableThreads(). Each packs a shard; with fewer shards than threads,
  // several prepare the records of one (Source::items_take_work). Does not affect the output.
  int threads = 0;
  // Skip bad items and list them, up to the share `max_skip` of the planned items; if false, the
  // first bad item stops the job. The limit is for all tasks: each stops when it has skipped that
  // many items itself, and no manifest is written if they skipped more together. Errors that are
  // not caused by an item, such as too many open files, always stop the job.
  bool skip_bad_items = false;
  double max_skip = 0.001;
  // This process packs the shards whose number is `task` modulo `tasks`.
  uint32_t task = 0;
  uint32_t tasks = 1;
  bool append = false;      // append to the data set in `out`
  bool overwrite = false;   // first remove what an earlier pack wrote to `out`
  bool dali_index = false;  // also write SHARD.idx in DALI's text format; uncompressed shards only
  FileSystem* files = &PosixFiles();
  // Called with the plan before the first shard is written.
  std::function<void(const Plan& plan)> planned = {};
  // Called from time to time, by one worker at a time: planned bytes done, and their total.
  std::function<void(uint64_t bytes, uint64_t total_bytes)> progress = {};

  // Called before the shards of other tasks are looked for, if not empty.
  std::function<void()> others = {};

  // Where the results are, for messages.
  const std::string& shown_out() const noexcept { return url.empty() ? out : url; }
};

struct PackResult {
  Plan plan;
  Manifest manifest;                 // of the whole data set; valid if `complete`
  std::vector<SkippedItem> skipped;  // from this task's shards, in plan order
  uint64_t shards = 0;               // written or found by this call; see VisitPackedShards()
  uint64_t records = 0;              // in these shards
  uint64_t bytes = 0;
  uint64_t shards_found = 0;  // shards that were complete before the call
  bool complete = true;       // false: shards of other tasks are missing, there is no manifest yet
  // Too many items were skipped and no manifest was written; `skipped` has those of this task.
  bool skip_limit_exceeded = false;
};

// Makes the plan or resumes an interrupted one, writes the missing shards, then index and manifest.
// Throws Error: kInvalidArgument if `out` has other content, another process packs into it, or
// source or options differ from the interrupted job; the error of a bad item if items may not be
// skipped; kIo. Complete shards are kept in every case.
PackResult Pack(const Source& source, const PackOptions& options);

// Throws Error (kInvalidArgument) if these cannot be options of one of several tasks.
void CheckTasks(const PackOptions& options);

// Calls `visit` in plan order with each shard of `plan` that Pack() with these options wrote or
// found. Reads them from `out` one at a time to save memory.
void VisitPackedShards(const PackOptions& options, const Plan& plan,
                       const std::function<void(const ManifestShard& shard)>& visit);

// Returns messages for the user about a packed data set: what the source left out, and labels that
// seem to start at 1.
std::vector<std::string> PackNotices(const Source& source, const Manifest& manifest);

}  // namespace recpack::pack
