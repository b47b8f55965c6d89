// An index that many threads add shards to, in the shards' order.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

#include "recpack/base/file.h"
#include "recpack/record/index.h"

namespace recpack {

// Written to PATH.tmp-PID and renamed by Finish(); removed by the destructor without it.
class OrderedIndex {
 public:
  OrderedIndex(FileSystem& files, std::string path);
  ~OrderedIndex();

  // Waits for the shards before `i`, which other threads must add, then adds it. Throws what the
  // first one that was given up failed with.
  void Add(size_t i, const ShardEntries& entries);

  // Called where a shard's exception is handled: wakes who waits, for it will never come.
  void GiveUp();

  void Finish(bool sync);

 private:
  FileSystem& files_;
  std::string path_;
  std::string temporary_;
  IndexWriter writer_;
  std::mutex mutex_;
  std::condition_variable turn_;
  size_t next_ = 0;
  std::exception_ptr failure_;
  bool finished_ = false;
};

}  // namespace recpack
