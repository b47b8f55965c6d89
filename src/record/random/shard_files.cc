#include "src/record/random/shard_files.h"

#include <fcntl.h>
#include <sys/uio.h>

#include <algorithm>

#include "recpack/base/error.h"
#include "src/record/crc/shard_check.h"

namespace recpack {

OpenShard::OpenShard(std::unique_ptr<ReadableFile> file, ShardSummary summary)
    : file_(std::move(file)), summary_(std::move(summary)) {
  RefuseOtherSize(path(), file_->Size(), summary_.file_bytes);
  // Readahead after a random record would fetch data that nobody needs.
  if (file_->descriptor() >= 0) {
    ::posix_fadvise(file_->descriptor(), 0, 0, POSIX_FADV_RANDOM);
  }
}

bool OpenShard::InPageCache(uint64_t offset) const noexcept {
#if defined(RWF_NOWAIT)
  const int fd = file_->descriptor();
  uint8_t byte;
  const iovec into = {&byte, 1};
  return fd >= 0 && ::preadv2(fd, &into, 1, static_cast<off_t>(offset), RWF_NOWAIT) == 1;
#else
  return false;
#endif
}

void OpenShard::HoldToIndexNow(const Index& index, uint32_t shard) const {
  try {
    index.CheckShard(shard, ReadTail(*file_, summary_.file_bytes));
  } catch (const Error& error) {
    throw error.At({.path = path()});
  }
  held_.store(true, std::memory_order_relaxed);
}

const MappedFile& OpenShard::Map() const {
  std::call_once(mapped_once_, [this] { mapped_ = std::make_unique<MappedFile>(path()); });
  ready_.store(mapped_.get(), std::memory_order_release);
  return *mapped_;
}

ShardFiles::ShardFiles(Index index, ShardPath path_of, size_t max_open, FileSystem& files)
    : index_(std::move(index)),
      path_of_(std::move(path_of)),
      max_open_(std::max<size_t>(max_open, 1)),
      files_(files) {}

std::shared_ptr<const OpenShard> ShardFiles::Open(uint32_t shard) {
  if (auto found = Find(shard)) return found;
  // Outside the lock, so that a slow disk blocks only the threads that need this shard.
  ShardSummary summary = index_.shard(shard);
  auto file = files_.OpenForReading(path_of_(shard));
  auto opened = std::make_shared<const OpenShard>(std::move(file), std::move(summary));
  return Keep(shard, std::move(opened));
}

std::shared_ptr<const OpenShard> ShardFiles::Find(uint32_t shard) {
  const std::lock_guard lock(mutex_);
  const auto found = by_shard_.find(shard);
  if (found == by_shard_.end()) return nullptr;
  recent_.splice(recent_.begin(), recent_, found->second);
  return found->second->second;
}

std::shared_ptr<const OpenShard> ShardFiles::Keep(uint32_t shard,
                                                  std::shared_ptr<const OpenShard> opened) {
  std::shared_ptr<const OpenShard> evicted;  // closed after the lock is released
  const std::lock_guard lock(mutex_);
  if (const auto found = by_shard_.find(shard); found != by_shard_.end()) {
    return found->second->second;  // another thread was faster
  }
  if (recent_.size() >= max_open_) {
    evicted = std::move(recent_.back().second);
    by_shard_.erase(recent_.back().first);
    recent_.pop_back();
  }
  recent_.emplace_front(shard, opened);
  by_shard_[shard] = recent_.begin();
  return opened;
}

}  // namespace recpack
