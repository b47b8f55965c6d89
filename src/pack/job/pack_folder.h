// Opens an output folder: locks, paths of its files, and the data set that is appended to
// (docs/format/plan.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recpack/base/descriptor.h"
#include "recpack/base/file_lock.h"
#include "src/pack/job/pack.h"
#include "src/shards/manifest/manifest.h"

namespace recpack::pack {

// Holds an advisory lock on the folder during its lifetime. Its paths may be asked for by any
// thread.
class PackFolder {
 public:
  // Creates the folder if needed and locks it, exclusively or shared with other tasks of the same
  // job. With options.overwrite the old output is removed here, or, if `later`, by
  // RemoveOldOutput().
  explicit PackFolder(const PackOptions& options, bool later = false);
  PackFolder(const PackFolder&) = delete;

  // The existing manifest if options.append is set. Callers may move from it after AdoptPlan().
  std::optional<Manifest>& base() { return base_; }
  const std::optional<Manifest>& base() const { return base_; }

  // Number of the append whose plan is looked up; 0: none. With options.append it starts as the
  // last existing append.
  uint32_t append() const { return append_; }

  void StartNextAppend() { ++append_; }

  // Number of the last append that was started here, finished or not; 0: none.
  uint32_t LastAppend() const;

  // Waits until no other task writes plan, index or manifest. The caller has the exclusive right to
  // do so while it holds the returned lock.
  Descriptor TakeTurn() const {
    return options_.tasks == 1 ? Descriptor() : WaitForLock(StatePath("lock-turn"));
  }

  // Removes the files named by plans, sidecars and manifest, and those files of the state folder
  // that are not being written. Nothing else.
  void RemoveOldOutput();

  std::string ShardPath(const std::string& file) const { return folder_ + "/" + file; }
  std::string StatePath(const std::string& name) const { return state_folder_ + "/" + name; }
  std::string TemporaryPath(const std::string& file) const { return StatePath(file + ".tmp"); }
  // The one-shard index of the shard.
  std::string IndexPartPath(const std::string& file) const { return StatePath(file + ".recindex"); }
  std::string TaskLockPath(uint32_t task) const {
    return StatePath("lock-" + std::to_string(task));
  }
  // The plan of append().
  std::string PlanPath() const;

 private:
  void LockOrThrow(const std::string& path, bool shared);
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
