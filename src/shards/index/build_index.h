// Builder of indexes for shards without one, or with a stale one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/shards/layout/layout.h"

namespace recpack {

struct BuildIndexOptions {
  std::string out;     // folder or URL for the index files; empty: the shards' own
  int threads = 0;     // 0: AvailableThreads()
  bool verify = true;  // also check the CRCs of payloads, not only those of lengths
  bool dali = false;   // also write SHARD.idx in DALI's text format
  std::function<void(uint64_t bytes)> progress = {};  // bytes of finished shards; serialised calls
};

struct BuiltIndex {
  std::string path;
  uint64_t shards = 0;
  uint64_t records = 0;
};

// Writes one index per split and folder of its shards, each replaced atomically. Memory: the
// lengths (4 bytes per record) of one shard per thread. Throws Error: kInvalidArgument if `out`
// would need one index for shards in several folders, or if a manifest beside the shards lists more
// shards of the split than the layout; kCorrupt at the first damaged shard; kUnsupported for a DALI
// index of a compressed shard, and for shards of a web server without `out`; kIo.
std::vector<BuiltIndex> BuildIndexes(const Layout& layout, const BuildIndexOptions& options);

}  // namespace recpack
