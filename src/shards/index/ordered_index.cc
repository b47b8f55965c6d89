#include "src/shards/index/ordered_index.h"

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "src/base/format.h"

namespace recpack {

OrderedIndex::OrderedIndex(FileSystem& files, std::string path)
    : files_(files),
      path_(std::move(path)),
      temporary_(format("{}.tmp-{}", path_, ::getpid())),
      writer_(files.Create(temporary_)) {}

OrderedIndex::~OrderedIndex() {
  std::error_code ignored;
  if (!finished_) std::filesystem::remove(temporary_, ignored);
}

void OrderedIndex::Add(size_t i, const ShardEntries& entries) {
  std::unique_lock lock(mutex_);
  turn_.wait(lock, [&] { return next_ == i || failure_; });
  if (failure_) std::rethrow_exception(failure_);
  writer_.AddShard(entries);
  ++next_;
  turn_.notify_all();
}

void OrderedIndex::GiveUp() {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::current_exception();
  turn_.notify_all();
}

void OrderedIndex::Finish(bool sync) {
  writer_.Finish(sync);
  files_.Rename(temporary_, path_, sync);
  finished_ = true;
}

}  // namespace recpack
