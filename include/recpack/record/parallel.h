// Parallel reading of many shards.
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

// Record with its shard and the thread that read it.
struct ShardRecord {
  size_t worker = 0;  // number of the thread, below the number of threads
  size_t shard = 0;   // index into the paths
  Record record;
};

// Reads all records of the shards on `threads` threads (0: AvailableThreads()). Each shard is read
// by one thread from start to end; shards are started in ascending order. Calls on_record from
// these threads, concurrently for different workers. The first exception of a reader or of
// on_record stops all threads and is rethrown here.
void ReadShards(std::span<const std::string> paths, int threads, const ReaderOptions& options,
                const std::function<void(const ShardRecord&)>& on_record,
                FileSystem& files = PosixFiles());

// Reads all records of the index's shards, which lie in `folder`; ShardRecord::shard is the number
// in the index. If there are few shards, uncompressed ones longer than `piece_bytes` are read in
// pieces of about that size, so that threads do not idle at the end; ordinals and offsets still
// refer to the shard. Throws Error (kCorrupt) if the size of a shard differs from that in the
// index. Shards are not split if damage is to be skipped (which uses the index's entries) or if
// CRCs are not checked.
void ReadShards(const Index& index, const std::string& folder, int threads,
                const ReaderOptions& options,
                const std::function<void(const ShardRecord&)>& on_record,
                FileSystem& files = PosixFiles(), uint64_t piece_bytes = uint64_t{16} << 20);

}  // namespace recpack
