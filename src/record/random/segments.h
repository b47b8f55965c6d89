// Random access to compressed shards: inflates the segment between two flush points that contains a
// record (docs/format/compression.md).
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "recpack/record/random_access_reader.h"
#include "src/record/random/shard_files.h"

namespace recpack {

// Inflated frames between two flush points.
struct Segment {
  uint32_t shard = 0;
  uint64_t offset = 0;  // uncompressed offset of its first byte
  size_t size = 0;
  std::shared_ptr<uint8_t[]> bytes;
};

// Cache of the segments used last. Not thread-safe.
class Segments {
 public:
  Segments(std::shared_ptr<ShardFiles> files, size_t max_segment_bytes)
      : files_(std::move(files)), max_segment_bytes_(max_segment_bytes) {}

  // Returns the segment that contains the record. Throws Error: kUnsupported if it is longer than
  // allowed, not counting its last record; kCorrupt if it cannot be inflated.
  const Segment& Find(const RecordLocation& location);

 private:
  // Starts of a shard's segments; the last element is the end of the shard.
  struct Map {
    struct Start {
      uint64_t offset;       // uncompressed
      uint64_t file_offset;  // 0: at the stream's own header
      uint64_t last_frame;   // uncompressed offset of the last record before the next start
    };
    uint32_t shard = 0;
    std::vector<Start> starts;
  };

  const Map& FindMap(uint32_t shard);
  Segment Inflate(const OpenShard& shard, const RecordLocation& location, const Map::Start& start,
                  uint64_t end) const;

  std::shared_ptr<ShardFiles> files_;
  size_t max_segment_bytes_;
  std::list<Map> maps_;          // most recently used first
  std::list<Segment> segments_;  // most recently used first
  uint64_t segment_bytes_ = 0;
};

}  // namespace recpack
