// Sequential reader of one TFRecord shard.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recpack/base/bytes.h"
#include "recpack/base/file.h"
#include "recpack/record/compression.h"
#include "recpack/record/index.h"

namespace recpack {

// Part of an uncompressed shard that begins and ends at record boundaries.
struct ShardPiece {
  uint64_t offset = 0;  // offset of its first frame
  uint64_t end = UINT64_MAX;
  uint64_t first_record = 0;  // ordinal in the shard of its first record
};

struct ReaderOptions {
  // Check the CRCs of length and payload. Off: only check lengths against the end of the file.
  bool verify = true;
  // Bytes per read call. The buffer grows for longer records, up to the size of the file.
  size_t buffer_bytes = size_t{1} << 20;
  enum class OnDamage { kFail, kResynchronise } on_damage = OnDamage::kFail;
  // Index entries with the record boundaries to resynchronise at. Null: resynchronise at the next
  // offset where both CRCs match.
  std::shared_ptr<const ShardEntries> entries = nullptr;
  // Read this piece only; `entries` are not used. Throws Error (kInvalidArgument) if the shard is
  // compressed.
  std::optional<ShardPiece> piece = {};
};

struct Record {
  ByteView payload;      // valid until the next call on the reader
  uint64_t offset = 0;   // frame offset in the shard's uncompressed bytes
  uint64_t ordinal = 0;  // in the shard; an estimate after damage of unknown length
};

// Range of a shard that could not be read.
struct Damage {
  uint64_t offset = 0;   // first lost uncompressed byte (byte of the file for a broken stream)
  uint64_t end = 0;      // first good byte after it, or the end
  uint64_t ordinal = 0;  // ordinal of the first lost record
  std::optional<uint64_t> lost;  // records lost; empty: unknown
  std::string reason;
};

// Reads records in file order. Detects the compression from the first bytes of the file. Not
// thread-safe.
class RecordReader {
 public:
  RecordReader(std::unique_ptr<ReadableFile> file, ReaderOptions options);
  ~RecordReader();
  RecordReader(RecordReader&&) noexcept;

  // Reads the next record; returns false at the end. Throws Error (kCorrupt) with path, byte offset
  // and ordinal on damage, unless ReaderOptions::on_damage is kResynchronise.
  bool Next(Record& record);

  Compression compression() const noexcept;

  // Returns the damage found so far, in file order.
  const std::vector<Damage>& damages() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack
