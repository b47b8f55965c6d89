// Compressed shards in any order: a record is had by inflating the stretch between two flush points
// that holds it (docs/format/compression.md).
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "recpack/record/random_access_reader.h"
#include "src/record/random/shard_files.h"

namespace recpack {

// The frames of a stretch, inflated.
struct Segment {
  uint32_t shard = 0;
  uint64_t offset = 0;  // of its first byte, uncompressed
  size_t size = 0;
  std::shared_ptr<uint8_t[]> bytes;
};

// The stretches used last. One thread at a time.
class Segments {
 public:
  Segments(std::shared_ptr<ShardFiles> files, size_t max_segment_bytes)
      : files_(std::move(files)), max_segment_bytes_(max_segment_bytes) {}

  // The stretch that holds the record. Throws Error: kUnsupported where it is longer than allowed,
  // not counting its last record, kCorrupt where it does not inflate.
  const Segment& Holding(const RecordLocation& location);

 private:
  // Where the stretches of a shard begin; the last one is the end.
  struct Map {
    struct Start {
      uint64_t offset;       // uncompressed
      uint64_t file_offset;  // 0: at the stream's own header
      uint64_t last_frame;   // offset, uncompressed, of the last record before the next start
    };
    uint32_t shard = 0;
    std::vector<Start> starts;
  };

  const Map& MapOf(uint32_t shard);
  Segment Inflate(const OpenShard& shard, const RecordLocation& location, const Map::Start& start,
                  uint64_t end) const;

  std::shared_ptr<ShardFiles> files_;
  size_t max_segment_bytes_;
  std::list<Map> maps_;          // the one used last comes first
  std::list<Segment> segments_;  // likewise
  uint64_t segment_bytes_ = 0;
};

}  // namespace recpack
