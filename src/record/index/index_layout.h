// Binary layout of index files (docs/format/index.md).
#pragma once

#include <cstdint>

namespace recpack {

inline constexpr char kIndexMagic[8] = {'R', 'E', 'C', 'I', 'N', 'D', 'E', 'X'};
inline constexpr uint32_t kIndexVersion = 2;
inline constexpr uint64_t kRecordsPerBlock = 64;

struct IndexHeader {
  char magic[8];
  uint32_t version;
  uint32_t records_per_block;
};
static_assert(sizeof(IndexHeader) == 16);

// Directory entry of one shard. All numbers are little-endian.
struct IndexShard {
  uint64_t file_bytes;
  uint64_t records;
  uint64_t first_record;  // in the split
  uint64_t lengths_at;    // u32 per record; 0: all have the length `stride`
  uint64_t blocks_at;     // u64 offset of every 64th record's frame; 0 with `stride`
  uint64_t crcs_at;       // u32 per record: the masked CRC of its payload; 0: unknown
  uint64_t flush_at;      // pairs of u64: file offset, first record
  uint64_t flush_points;
  uint64_t name_at;
  uint32_t name_bytes;
  uint32_t stride;  // payload bytes of each record if lengths_at is 0
  uint32_t compression;
  uint32_t check;  // ShardCheck(); 0: not computed
};
static_assert(sizeof(IndexShard) == 88);

struct IndexFooter {
  uint64_t directory_at;
  uint64_t shards;
  uint64_t records;
  uint32_t directory_crc;  // CRC-32C of the shard table
  uint32_t footer_crc;     // CRC-32C of the fields above
  char magic[8];
};
static_assert(sizeof(IndexFooter) == 40);

}  // namespace recpack
