// Caches of open shard files, limited in number.
#pragma once

#include <array>
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

// Open shard file. Shared: it stays open while it has owners.
class OpenShard {
 public:
  OpenShard(std::unique_ptr<ReadableFile> file, ShardSummary summary);

  const ReadableFile& file() const noexcept { return *file_; }
  const std::string& path() const noexcept { return file_->path(); }
  const ShardSummary& summary() const noexcept { return summary_; }

  // Runs Index::CheckShard() at the first call, which reads the last bytes of the file: do not call
  // it for hints, which must not block. Thread-safe.
  void HoldToIndex(const Index& index, uint32_t shard) const {
    if (!held_.load(std::memory_order_relaxed)) HoldToIndexNow(index, shard);
  }

  // Tells whether this byte is in the page cache; false if unknown.
  bool InPageCache(uint64_t offset) const noexcept;

  // Returns a mapping of the whole shard, made at the first call. The file may be truncated
  // meanwhile: read with GuardedCopy().
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
  mutable std::atomic<const MappedFile*> ready_ = nullptr;  // mapped_, once it is set
};

// Opens the shards of a split and keeps the most recently used ones open. Thread-safe.
class ShardFiles {
 public:
  ShardFiles(Index index, ShardPath path_of, size_t max_open, FileSystem& files);

  // Throws Error: kNotFound, kIo; kCorrupt if the file's size differs from that in the index.
  std::shared_ptr<const OpenShard> Open(uint32_t shard);

  // False if the shards are not files of the operating system.
  bool CanMap() const { return index_.shard_count() == 0 || files_.CanMap(path_of_(0)); }

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
  std::list<Entry> recent_;  // most recently used first
  std::unordered_map<uint32_t, std::list<Entry>::iterator> by_shard_;
};

// Direct-mapped cache of the shards that one thread used last, since ShardFiles takes a lock. Keeps
// them open even after ShardFiles has evicted them; only one if few files may be open. Not
// thread-safe.
class NearShards {
 public:
  NearShards(std::shared_ptr<ShardFiles> files, size_t max_open)
      : files_(std::move(files)), one_only_(max_open < kManyOpen) {}

  // Throws like ShardFiles::Open(). The result is valid until the next call.
  const std::shared_ptr<const OpenShard>& Open(uint32_t shard) {
    Near& near = shards_[one_only_ ? 0 : shard % kMost];
    if (shard != near.shard) {
      near = {};  // closes it before the next is opened, else each thread holds one more
      near.opened = files_->Open(shard);
      near.shard = shard;
    }
    return near.opened;
  }

 private:
  static constexpr size_t kMost = 8;
  static constexpr size_t kManyOpen = 64;

  struct Near {
    uint32_t shard = UINT32_MAX;
    std::shared_ptr<const OpenShard> opened;
  };

  std::shared_ptr<ShardFiles> files_;
  bool one_only_;
  std::array<Near, kMost> shards_;
};

}  // namespace recpack
