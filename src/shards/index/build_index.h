// Makes the index of shards that have none, or whose index is stale.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/shards/layout/layout.h"

namespace recpack {

struct BuildIndexOptions {
  std::string out;     // folder for the index files; empty: beside the shards
  int threads = 0;     // 0: AvailableThreads()
  bool verify = true;  // check the CRCs of payloads on the way, else only those of lengths
  bool dali = false;   // also SHARD.idx in DALI's text form
  std::function<void(uint64_t bytes)> progress = {};  // bytes of shards done; one call at a time
};

struct BuiltIndex {
  std::string path;
  uint64_t shards = 0;
  uint64_t records = 0;
};

// One index a split and folder that its shards lie in, each replaced atomically. Throws Error:
// kInvalidArgument where `out` is to hold one over several folders, or where a manifest beside the
// shards says that the split has more of them than the layout names. Memory: the lengths (4 bytes a
// record) of as many shards as there are threads. Throws Error: kCorrupt at the first damaged
// shard, kUnsupported where DALI is to read a compressed one, kIo.
std::vector<BuiltIndex> BuildIndexes(const Layout& layout, const BuildIndexOptions& options);

}  // namespace recpack
