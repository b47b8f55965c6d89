// Reads one TFRecord shard from its start to its end.
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

// A part of an uncompressed shard that begins and ends at records.
struct ShardPiece {
  uint64_t offset = 0;  // of its first frame
  uint64_t end = UINT64_MAX;
  uint64_t first_record = 0;  // ordinal, in the shard, of its first record
};

struct ReaderOptions {
  // Check the CRCs of length and payload. Off: only lengths are checked against the file's end.
  bool verify = true;
  // Bytes of one read call. A longer record makes the buffer grow, never beyond the file.
  size_t buffer_bytes = size_t{1} << 20;
  enum class OnDamage { kFail, kResynchronise } on_damage = OnDamage::kFail;
  // Known boundaries to resynchronise at; without, the next offset where both CRCs hold is taken.
  std::shared_ptr<const ShardEntries> entries = nullptr;
  // Read this only. Of a compressed shard: Error (kInvalidArgument). `entries` are not made use of.
  std::optional<ShardPiece> piece = {};
};

struct Record {
  ByteView payload;      // valid until the next call on the reader
  uint64_t offset = 0;   // of its frame, in the shard's uncompressed bytes
  uint64_t ordinal = 0;  // in the shard; provisional after damage of unknown length
};

// A stretch of a shard that could not be read.
struct Damage {
  uint64_t offset = 0;   // first uncompressed byte that is lost (file byte for a broken stream)
  uint64_t end = 0;      // first byte that is good again, or the end
  uint64_t ordinal = 0;  // of the first lost record
  std::optional<uint64_t> lost;  // records lost; empty: unknown
  std::string reason;
};

// One thread at a time. Compression is recognised from the file's first bytes.
class RecordReader {
 public:
  RecordReader(std::unique_ptr<ReadableFile> file, ReaderOptions options);
  ~RecordReader();
  RecordReader(RecordReader&&) noexcept;

  // Moves to the next record: false at the end. Throws Error (kCorrupt) with path, byte offset and
  // ordinal on damage, unless it was asked to resynchronise.
  bool Next(Record& record);

  Compression compression() const noexcept;

  // What was lost so far, in file order.
  const std::vector<Damage>& damages() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace recpack
