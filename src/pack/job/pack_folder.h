// The state of an output folder: lock, plan, and which shards are complete (docs/format/plan.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recpack/base/descriptor.h"
#include "src/pack/job/pack.h"
#include "src/pack/plan/plan.h"
#include "src/shards/manifest/manifest.h"
#include "src/shards/manifest/sidecar.h"

namespace recpack::pack {

// Whether the shards of the plan are in the manifest: it names all of them or none.
bool Lists(const Manifest& manifest, const Plan& plan);

// Holds an advisory lock on the folder as long as it lives. One thread at a time, but for the
// functions marked otherwise.
class PackFolder {
 public:
  // Makes the folder if needed and locks it: alone, or together with other tasks of the same job.
  // What is to be overwritten is removed here, or `later`, by RemoveOldOutput().
  explicit PackFolder(const PackOptions& options, bool later = false);
  PackFolder(const PackFolder&) = delete;

  // The manifest that is there, where options.append asks for one. May be moved from once the plan
  // is adopted.
  std::optional<Manifest>& base() { return base_; }

  // Number of the append that plans are looked up under; 0: none. With options.append it starts as
  // the last one there is.
  uint32_t append() const { return append_; }

  // Whether the last append is finished and was made from something else than `wanted`.
  bool LastAppendIsAnotherJob(const Plan& wanted) const;

  void StartNextAppend() { ++append_; }

  // Whether the data set that is appended to has shards of the plan's names, and no plan tells
  // whose they are: it came here without its state folder.
  bool HasShardsOfAnotherJob(const Plan& wanted) const;

  // Number of the last append that was begun here, finished or not; 0: none.
  uint32_t LastAppend() const;

  // Takes up the plan that is there, or stores `wanted`. Throws Error (kInvalidArgument) where
  // they differ or the folder holds something else.
  void Adopt(const Plan& wanted);

  // Waits until no other task writes plan, index or manifest, which tasks do in turn. Hold what is
  // returned meanwhile.
  Descriptor TakeTurn() const;

  // Removes what plans, sidecars and manifest name, and nothing else but the files of the state
  // folder that are not being written.
  void RemoveOldOutput();

  // Removes what killed packers left and no living process holds: temporary files of this task, of
  // tasks whose lock is free, and of index and manifest. In this task's turn, while it packs none.
  void RemoveStaleTemporaries(const Plan& plan) const;

  // Of a complete shard; empty where it is missing or its size is not what its sidecar says.
  // Any thread.
  std::optional<Sidecar> FindComplete(const std::string& file) const;

  // Stores the sidecar, then renames the shard's temporary file into place. Any thread.
  void Publish(const std::string& file, const Sidecar& sidecar);

  std::string ShardPath(const std::string& file) const;
  std::string TemporaryPath(const std::string& file) const;
  std::string IndexPartPath(const std::string& file) const;  // one-shard index of a shard file
  std::string StatePath(const std::string& name) const;

 private:
  std::string PlanPath() const;
  std::string WayOutOfAnotherJob() const;
  void LockOrThrow(const std::string& name, bool shared);
  void RefuseNothingToAppendTo() const;
  void FindLastAppend();
  void RefuseForeignContent() const;

  const PackOptions& options_;
  std::string folder_;
  std::string state_folder_;
  std::vector<Descriptor> locks_;
  std::optional<Manifest> base_;
  uint32_t append_ = 0;
};

}  // namespace recpack::pack
