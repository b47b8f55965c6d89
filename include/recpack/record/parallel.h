// Many shards read at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "recpack/base/file.h"
#include "recpack/record/index.h"
#include "recpack/record/reader.h"

namespace recpack {

// Where a record was found.
struct ShardRecord {
  size_t worker = 0;  // the thread: below the number of threads asked for
  size_t shard = 0;   // into the paths
  Record record;
};

// Reads all records of the shards on `threads` threads (0: AvailableThreads()), each shard by one
// thread from its start to its end, shards in ascending order. Calls on_record from these threads,
// one call at a time a worker. The first exception, of a reader or of on_record, ends all and is
// thrown again here.
void ReadShards(std::span<const std::string> paths, int threads, const ReaderOptions& options,
                const std::function<void(const ShardRecord&)>& on_record,
                FileSystem& files = PosixFiles());

// The shards of the index, which lie in `folder`; `shard` counts those. Where there are few, the
// uncompressed ones longer than `piece_bytes` are read in pieces of about that size, so that no
// thread waits for the last shard; ordinals and offsets are the shard's all the same. Throws Error
// (kCorrupt) where a shard has not the size that the index says. Shards are read whole where
// damage is to be passed, for which the index's entries are used, or CRCs are not to be checked.
void ReadShards(const Index& index, const std::string& folder, int threads,
                const ReaderOptions& options,
                const std::function<void(const ShardRecord&)>& on_record,
                FileSystem& files = PosixFiles(), uint64_t piece_bytes = uint64_t{16} << 20);

}  // namespace recpack
