// State of an output folder: lock, plan, and complete shards (docs/format/plan.md).
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

// Tells whether the manifest lists the shards of the plan. It lists all of them or none.
bool Lists(const Manifest& manifest, const Plan& plan);

// Holds an advisory lock on the folder during its lifetime. Not thread-safe, except for the
// functions marked as such.
class PackFolder {
 public:
  // Creates the folder if needed and locks it, exclusively or shared with other tasks of the same
  // job. With options.overwrite the old output is removed here, or, if `later`, by
  // RemoveOldOutput().
  explicit PackFolder(const PackOptions& options, bool later = false);
  PackFolder(const PackFolder&) = delete;

  // The existing manifest if options.append is set. Callers may move from it after Adopt().
  std::optional<Manifest>& base() { return base_; }

  // Number of the append whose plan is looked up; 0: none. With options.append it starts as the
  // last existing append.
  uint32_t append() const { return append_; }

  // Tells whether the last append is finished and its plan differs from `wanted`.
  bool LastAppendIsAnotherJob(const Plan& wanted) const;

  void StartNextAppend() { ++append_; }

  // Tells whether the data set has shards with the plan's names and no plan says which job made
  // them, because it was copied without its state folder.
  bool HasShardsOfAnotherJob(const Plan& wanted) const;

  // Number of the last append that was started here, finished or not; 0: none.
  uint32_t LastAppend() const;

  // Resumes the existing plan, or stores `wanted`. Throws Error (kInvalidArgument) if they differ
  // or the folder has other content.
  void Adopt(const Plan& wanted);

  // Waits until no other task writes plan, index or manifest. The caller has the exclusive right to
  // do so while it holds the returned lock.
  Descriptor TakeTurn() const;

  // Removes the files named by plans, sidecars and manifest, and those files of the state folder
  // that are not being written. Nothing else.
  void RemoveOldOutput();

  // Removes temporary files that killed processes left: those of this task, of tasks whose lock is
  // free, and of index and manifest. Call while holding this task's turn and packing no shard.
  void RemoveStaleTemporaries(const Plan& plan) const;

  // Returns the sidecar of a complete shard; nullopt if the shard is missing or its size differs
  // from the sidecar. Thread-safe.
  std::optional<Sidecar> FindComplete(const std::string& file) const;

  // Stores the sidecar, then renames the shard's temporary file into place. Thread-safe.
  void Publish(const std::string& file, const Sidecar& sidecar);

  std::string ShardPath(const std::string& file) const;
  std::string TemporaryPath(const std::string& file) const;
  std::string IndexPartPath(const std::string& file) const;  // one-shard index of the shard
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
