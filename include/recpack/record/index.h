// The index: where each record of a split's shards lies (docs/format/index.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/base/file.h"
#include "recpack/record/compression.h"

namespace recpack {

// A place in a compressed shard where inflating can start anew.
struct FlushPoint {
  uint64_t file_offset = 0;   // of the first compressed byte after the flush
  uint64_t first_record = 0;  // ordinal, in the shard, of the first record after it; may be the end

  bool operator==(const FlushPoint&) const = default;
};

// What the index says of one shard.
struct ShardEntries {
  std::string name;         // file name, relative to the index's folder
  uint64_t file_bytes = 0;  // size of the file
  Compression compression = Compression::kNone;
  std::vector<uint32_t> lengths;         // payload bytes of each record, without framing
  std::vector<FlushPoint> flush_points;  // empty: no compression, or not our writer's
  uint32_t check = 0;                    // of the above and the shard's last bytes; 0: unknown
};

struct ShardSummary {
  std::string name;
  uint64_t file_bytes = 0;
  uint64_t records = 0;
  uint64_t first_record = 0;  // ordinal in the split
  Compression compression = Compression::kNone;
};

// Where a record is.
struct RecordLocation {
  uint32_t shard = 0;
  uint64_t ordinal = 0;  // in the shard
  uint64_t offset = 0;   // of its frame, in the shard's uncompressed bytes
  uint32_t length = 0;   // payload bytes
};

// Writes an index shard by shard; memory does not grow with the records (but by some bytes a
// shard).
class IndexWriter {
 public:
  explicit IndexWriter(std::unique_ptr<WritableFile> file);
  ~IndexWriter();
  void AddShard(const ShardEntries& entries);
  // Writes the directory and the end mark; syncs if asked to; closes.
  void Finish(bool sync);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A mapped index. Immutable; any number of threads, and shared between processes.
class Index {
 public:
  // Throws Error: kCorrupt where a bound, count or CRC of the file does not hold.
  static Index Open(const std::string& path);

  uint64_t record_count() const noexcept;
  size_t shard_count() const noexcept;
  ShardSummary shard(size_t i) const;
  std::string_view shard_name(size_t i) const noexcept;  // lives as long as the index or a copy
  uint64_t shard_bytes(size_t i) const noexcept;         // size of its file

  // O(1) but for the search of the shard (O(log shards)); ordinal < record_count().
  RecordLocation Locate(uint64_t ordinal) const;

  // Holds the shard's entries, and the file whose last bytes (8, or all where it has fewer) are
  // `tail`, to the check value that was taken when the shard was indexed. Throws Error (kCorrupt),
  // without a place, where either is another one now. O(records of the shard).
  void CheckShard(size_t shard, ByteView tail) const;

  // All of one shard, copied out.
  ShardEntries Entries(size_t shard) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

// Throws Error (kCorrupt) where the shard's file has other than the bytes that its index gives.
void RefuseOtherSize(const std::string& path, uint64_t bytes, uint64_t indexed);

// Lists a shard's records from its start. The CRCs of lengths are checked; `verify` also checks
// those of payloads, for which all of an uncompressed shard must be read. Throws Error (kCorrupt)
// at the first damage. Compressed shards of our writer get their flush points; others have none.
ShardEntries ScanShard(FileSystem& files, const std::string& path, bool verify);

// One line a record, "OFFSET SIZE" with its frame: what NVIDIA DALI's tfrecord2idx writes. Throws
// Error (kUnsupported) for a compressed shard: DALI reads files as they are.
std::string DaliIndexText(const ShardEntries& entries);

}  // namespace recpack
