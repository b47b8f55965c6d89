// The open shards of a split: at most so many at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "recpack/base/file.h"
#include "recpack/record/index.h"
#include "recpack/record/random_access_reader.h"

namespace recpack {

// A shard that is open. It stays so while anybody holds it.
class OpenShard {
 public:
  OpenShard(std::unique_ptr<ReadableFile> file, ShardSummary summary);

  const ReadableFile& file() const noexcept { return *file_; }
  const std::string& path() const noexcept { return file_->path(); }
  const ShardSummary& summary() const noexcept { return summary_; }

  // Index::CheckShard() at the first call, which reads the file's last bytes: not for hints, which
  // must not wait. Any number of threads.
  void HoldToIndex(const Index& index, uint32_t shard) const {
    if (!held_.load(std::memory_order_relaxed)) HoldToIndexNow(index, shard);
  }

  // Whether this byte could be read without waiting for the disk. False where nobody can tell.
  bool InPageCache(uint64_t offset) const noexcept;

  // The whole shard, mapped at the first call: may be cut by others, so read it by GuardedCopy().
  ByteView Mapped() const {
    const MappedFile* mapped = ready_.load(std::memory_order_acquire);
    return (mapped != nullptr ? *mapped : Map()).bytes();
  }

 private:
  const MappedFile& Map() const;
  void HoldToIndexNow(const Index& index, uint32_t shard) const;

  std::unique_ptr<ReadableFile> file_;
  ShardSummary summary_;
  mutable std::atomic<bool> held_ = false;
  mutable std::once_flag mapped_once_;
  mutable std::unique_ptr<MappedFile> mapped_;
  mutable std::atomic<const MappedFile*> ready_ = nullptr;  // mapped_, once it is there
};

// Any number of threads.
class ShardFiles {
 public:
  ShardFiles(Index index, ShardPath path_of, size_t max_open, FileSystem& files);

  // Throws Error: kNotFound, kIo; kCorrupt where the file's size is not what the index says.
  std::shared_ptr<const OpenShard> Open(uint32_t shard);

  const Index& index() const noexcept { return index_; }

 private:
  using Entry = std::pair<uint32_t, std::shared_ptr<const OpenShard>>;

  std::shared_ptr<const OpenShard> Find(uint32_t shard);
  std::shared_ptr<const OpenShard> Keep(uint32_t shard, std::shared_ptr<const OpenShard> opened);

  const Index index_;
  const ShardPath path_of_;
  const size_t max_open_;
  FileSystem& files_;
  std::mutex mutex_;
  std::list<Entry> recent_;  // the one used last comes first
  std::unordered_map<uint32_t, std::list<Entry>::iterator> by_shard_;
};

}  // namespace recpack
