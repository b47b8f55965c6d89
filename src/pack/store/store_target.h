// Prepares a pack into an object store.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/pack/job/pack.h"
#include "src/pack/job/pack_stream.h"
#include "src/pack/store/shared_state.h"
#include "src/pack/store/store_append.h"

namespace recpack::pack {

// Folder on the disk and file system with which Pack() and PackStream pack into the "folder" at an
// s3:// or gs:// URL: give them both as options.out and options.files. The folder lies in the cache
// folder and has the state of the job, by which an interrupted one continues.
class StoreTarget {
 public:
  // kOverwrite removes an earlier pack from the store, and leaves other objects. An append has a
  // folder of its own.
  enum class Job : uint8_t { kNew, kOverwrite, kAppend };

  // Compares the store with the folder: forgets what is not in the store, and removes unfinished
  // uploads of an interrupted job. `task` of `tasks` packs every `tasks`-th shard. Throws Error:
  // kInvalidArgument if there are objects that are not of a new job; kIo; kUnsupported; for an
  // append, as StoreAppend().
  StoreTarget(const std::string& url, Job job, uint32_t task = 0, uint32_t tasks = 1);
  // After a job that is complete, and after an append, removes unfinished uploads once more: those
  // that a killed process had asked for may have begun later.
  ~StoreTarget();
  StoreTarget(const StoreTarget&) = delete;
  StoreTarget& operator=(const StoreTarget&) = delete;

  const std::string& url() const noexcept { return url_; }  // without a last slash
  const std::string& folder() const noexcept { return folder_; }
  FileSystem& files() const noexcept { return *files_; }  // valid as long as this

  // Finds the shards of the other tasks, if all are complete: for PackOptions::others.
  void FindOthers();

  // Returns an error of the job with the URL where it names a file in the folder.
  Error InStore(const Error& error) const;

 private:
  void RemoveOld() const;
  // Removes unfinished uploads: those of `ours`, of several tasks those of this one.
  void RemoveUploads(const std::set<std::string>& ours) const;
  void Compare(const std::map<std::string, uint64_t>& results, bool with_others) const;
  void Forget() const;

  std::string url_;
  std::string folder_;
  const uint32_t task_, tasks_;
  SharedState state_;
  std::optional<StoreAppend> append_;  // refers to state_
  std::unique_ptr<FileSystem> files_;
};

// Calls `job` and returns its result; its errors name URLs where they would name files in the
// folder of `target`, if there is one.
template <typename Job>
auto NamingUrls(const StoreTarget* target, Job&& job) {
  try {
    return job();
  } catch (const Error& error) {
    if (target != nullptr) throw target->InStore(error);
    throw;
  }
}

// Directs a job whose options.out is a URL at the object store: makes the target, and sets out and
// files. Returns nullptr, and changes nothing, for a folder on a disk. The target must outlive the
// job. Throws as StoreTarget(); Error (kUnsupported) for options that need a folder on a disk.
std::unique_ptr<StoreTarget> DirectToStore(PackOptions& options);
std::unique_ptr<StoreTarget> DirectToStore(PackStreamOptions& options);

}  // namespace recpack::pack
