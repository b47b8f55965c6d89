// Index of a split: the location of each record in its shards (docs/format/index.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/base/file.h"
#include "recpack/record/compression.h"

namespace recpack {

// Position in a compressed shard where decompression can start.
struct FlushPoint {
  uint64_t file_offset = 0;   // first compressed byte after the flush
  uint64_t first_record = 0;  // ordinal in the shard of the next record; may be the record count

  bool operator==(const FlushPoint&) const = default;
};

// Index entries of one shard.
struct ShardEntries {
  std::string name;         // file name, relative to the index's folder
  uint64_t file_bytes = 0;  // size of the file
  Compression compression = Compression::kNone;
  std::vector<uint32_t> lengths;  // payload bytes of each record, without framing
  std::vector<uint32_t> crcs;  // masked CRC of each payload, as its frame stores it; empty: unknown
  std::vector<FlushPoint> flush_points;  // empty: not compressed, or by another writer
  uint32_t check = 0;                    // check value (docs/format/index.md); 0: unknown
};

struct ShardSummary {
  std::string name;
  uint64_t file_bytes = 0;
  uint64_t records = 0;
  uint64_t first_record = 0;  // ordinal in the split
  Compression compression = Compression::kNone;
};

// Location of a record.
struct RecordLocation {
  uint32_t shard = 0;
  uint64_t ordinal = 0;         // in the shard
  uint64_t offset = 0;          // frame offset in the shard's uncompressed bytes
  uint32_t length = 0;          // payload bytes
  std::optional<uint32_t> crc;  // masked CRC of the payload; empty: the index does not tell
};

// Writes an index shard by shard. Memory use is some bytes per shard and does not depend on the
// number of records.
class IndexWriter {
 public:
  explicit IndexWriter(std::unique_ptr<WritableFile> file);
  ~IndexWriter();
  void AddShard(const ShardEntries& entries);
  // Writes the directory and the footer, syncs the file if `sync`, and closes it.
  void Finish(bool sync);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Memory-mapped index. Immutable, thread-safe, and shared between processes.
class Index {
 public:
  // Throws Error (kCorrupt) if an offset, a count or a CRC in the file is wrong.
  static Index Open(const std::string& path);

  uint64_t record_count() const noexcept;
  size_t shard_count() const noexcept;
  ShardSummary shard(size_t i) const;
  std::string_view shard_name(size_t i) const noexcept;  // valid while the index or a copy lives
  uint64_t shard_bytes(size_t i) const noexcept;         // size of the file

  // Finds a record in O(log shards). Requires ordinal < record_count().
  RecordLocation Locate(uint64_t ordinal) const;

  // Compares the check value of the shard with that of its entries and its file. `tail`: the last 8
  // bytes of the file, or all if it has fewer. Throws Error (kCorrupt), without a place, if they
  // differ. O(records of the shard).
  void CheckShard(size_t shard, ByteView tail) const;

  // Returns a copy of all entries of one shard.
  ShardEntries Entries(size_t shard) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

// Throws Error (kCorrupt) if the size of a shard's file differs from the size in its index.
void RefuseOtherSize(const std::string& path, uint64_t bytes, uint64_t indexed);

// Reads a shard and returns its index entries. Checks the CRCs of lengths; with `verify` also those
// of payloads, which requires reading all of an uncompressed shard. Throws Error (kCorrupt) at the
// first damage. Only compressed shards written by RecordWriter have flush points.
ShardEntries ScanShard(FileSystem& files, const std::string& path, bool verify);

// The same for an open file, of which the index says this name.
ShardEntries ScanShard(const ReadableFile& file, const std::string& name, bool verify);

// Formats the entries as NVIDIA DALI's tfrecord2idx does: one line "OFFSET SIZE" per record,
// including the frame. Throws Error (kUnsupported) for a compressed shard, which DALI cannot read.
std::string DaliIndexText(const ShardEntries& entries);

}  // namespace recpack
