// Files of a pack into an object store: its state on the disk, its results in the store.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "recpack/base/file.h"
#include "src/pack/store/shared_state.h"
#include "src/pack/store/store_append.h"
#include "src/remote/store/upload.h"

namespace recpack::pack {

// The operating system's files, but for results: what gets its name directly in `folder` is
// uploaded to the "folder" `url` under that name first. A planned shard is uploaded while it is
// written, and takes no space on the disk. In the place of each shard that is in the store lies a
// hole of its size. Of several tasks that pack together, the plan and what belongs to a complete
// shard is uploaded, too; of an append, its plan. Thread-safe, as PosixFiles().
class StagedFiles final : public FileSystem {
 public:
  // `state`: for several tasks that pack together; `append`: for an append. Else null. They outlive
  // this.
  StagedFiles(std::string folder, std::string url, const SharedState* state, StoreAppend* append);

  std::unique_ptr<ReadableFile> OpenForReading(const std::string& path) override;
  std::unique_ptr<WritableFile> Create(const std::string& path) override;
  void Rename(const std::string& from, const std::string& to, bool durable) override;
  void Remove(const std::string& path) override;
  bool Exists(const std::string& path) override { return PosixFiles().Exists(path); }
  bool CanMap(const std::string& path) const override { return !IsResultShard(path); }

 private:
  // Returns the name of the result at `path`; empty if it is none.
  std::string ResultName(const std::string& path) const;
  bool IsResultShard(const std::string& path) const;
  std::shared_ptr<remote::Upload> TakeUpload(const std::string& path);
  void PublishState(const std::string& from, const std::string& to);
  void UploadFile(const std::string& from, const std::string& name);
  std::string ObjectUrl(const std::string& name) const { return url_ + "/" + name; }

  const std::string folder_;
  const std::string url_;
  const SharedState* const state_;
  StoreAppend* const append_;
  std::mutex mutex_;
  // By the temporary file that they take the place of. Guarded by mutex_.
  std::unordered_map<std::string, std::shared_ptr<remote::Upload>> uploads_;
};

}  // namespace recpack::pack
