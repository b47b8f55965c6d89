// Index writer for many threads; shards are added in their order.
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

// Writes to PATH.tmp-PID. Finish() renames the file; without it the destructor removes it.
class OrderedIndex {
 public:
  OrderedIndex(FileSystem& files, std::string path);
  ~OrderedIndex();

  // Waits until other threads have added the shards before `i`, then adds it. After GiveUp(),
  // rethrows the exception of the first shard that failed.
  void Add(size_t i, const ShardEntries& entries);

  // Must be called in the handler of a shard's exception: wakes the threads that wait for the
  // shard.
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
