#include "recpack/record/index.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/record/crc32c.h"
#include "recpack/record/framing.h"
#include "src/base/format.h"
#include "src/record/compression/byte_source.h"
#include "src/record/crc/shard_check.h"
#include "src/record/index/index_layout.h"

namespace recpack {
namespace {

// Returns the maximum uncompressed size of the shard.
uint64_t MostBytes(const IndexShard& shard) {
  return shard.compression == 0 ? shard.file_bytes : shard.file_bytes * kMostDeflated;
}

// Tells whether `blocks` are the offsets of every 64th frame.
bool BlocksHold(std::span<const uint32_t> lengths, const uint64_t* blocks) {
  uint64_t offset = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (i % kRecordsPerBlock == 0 && blocks[i / kRecordsPerBlock] != offset) return false;
    offset += lengths[i] + kFrameBytes;
  }
  return true;
}

}  // namespace

struct Index::State {
  explicit State(const std::string& path) : file(path), bytes(file.bytes()) {}

  MappedFile file;
  ByteView bytes;
  std::span<const IndexShard> shards;
  uint64_t records = 0;

  [[noreturn]] void Fail(const std::string& reason) const {
    throw Error(ErrorKind::kCorrupt, "the index " + reason, {.path = file.path()},
                "rebuild it with `recpack index`");
  }

  // Returns `count` elements of `size` bytes at `at`, which must lie between header and footer.
  void CheckRange(uint64_t at, uint64_t count, uint64_t size) const {
    if (at % 8 != 0 || at < sizeof(IndexHeader) || at > bytes.size() ||
        count > (bytes.size() - at) / size) {
      Fail("points outside itself");
    }
  }

  template <typename T>
  const T* At(uint64_t at) const {
    return reinterpret_cast<const T*>(bytes.data() + at);
  }

  void Check();
  void CheckShard(const IndexShard& shard, uint64_t first_record) const;
  std::span<const uint32_t> Crcs(const IndexShard& shard) const {
    if (shard.crcs_at == 0) return {};
    return {At<uint32_t>(shard.crcs_at), shard.records};
  }
  std::string_view ShardName(const IndexShard& shard) const {
    return AsText(bytes.subspan(shard.name_at, shard.name_bytes));
  }
};

void Index::State::CheckShard(const IndexShard& shard, uint64_t first_record) const {
  if (shard.compression > static_cast<uint32_t>(Compression::kZlib))
    Fail("has an unknown compression");
  if (shard.first_record != first_record) Fail("miscounts its records");
  // With a stride each record takes `stride` payload bytes and its frame, otherwise at least the
  // frame.
  if (shard.file_bytes > uint64_t{1} << 50 ||
      shard.records > MostBytes(shard) / (shard.stride + kFrameBytes)) {
    Fail("counts more records than a shard can hold");
  }
  if (shard.lengths_at != 0) {
    CheckRange(shard.lengths_at, shard.records, sizeof(uint32_t));
    CheckRange(shard.blocks_at, (shard.records + kRecordsPerBlock - 1) / kRecordsPerBlock,
               sizeof(uint64_t));
  }
  if (shard.crcs_at != 0) CheckRange(shard.crcs_at, shard.records, sizeof(uint32_t));
  if (shard.flush_points > 0) CheckRange(shard.flush_at, shard.flush_points, sizeof(FlushPoint));
  CheckRange(shard.name_at, shard.name_bytes, 1);
  const std::string_view name = ShardName(shard);
  if (name.empty() || name == "." || name == ".." || name.find('/') != name.npos) {
    Fail("names a shard outside its folder");
  }
}

void Index::State::Check() {
  if (bytes.size() < sizeof(IndexHeader) + sizeof(IndexFooter)) Fail("is cut off");
  const auto* header = At<IndexHeader>(0);
  if (std::memcmp(header->magic, kIndexMagic, sizeof kIndexMagic) != 0)
    Fail("is not an index of recpack");
  if (header->version != kIndexVersion || header->records_per_block != kRecordsPerBlock) {
    Fail(format("has version {}, this recpack supports {}", header->version, kIndexVersion));
  }
  IndexFooter footer;
  std::memcpy(&footer, bytes.data() + bytes.size() - sizeof footer, sizeof footer);
  if (std::memcmp(footer.magic, kIndexMagic, sizeof kIndexMagic) != 0) Fail("is cut off");
  const ByteView checked(reinterpret_cast<const uint8_t*>(&footer),
                         offsetof(IndexFooter, footer_crc));
  if (Crc32c(checked) != footer.footer_crc) Fail("has a damaged end");
  CheckRange(footer.directory_at, footer.shards, sizeof(IndexShard));
  shards = {At<IndexShard>(footer.directory_at), footer.shards};
  if (Crc32c(bytes.subspan(footer.directory_at, shards.size_bytes())) != footer.directory_crc) {
    Fail("has a damaged directory");
  }
  for (const IndexShard& shard : shards) {
    CheckShard(shard, records);
    records += shard.records;
  }
  if (records != footer.records) Fail("miscounts its records");
}

Index Index::Open(const std::string& path) {
  auto state = std::make_shared<State>(path);
  state->Check();
  Index index;
  index.state_ = std::move(state);
  return index;
}

uint64_t Index::record_count() const noexcept { return state_->records; }

size_t Index::shard_count() const noexcept { return state_->shards.size(); }

ShardSummary Index::shard(size_t i) const {
  const IndexShard& shard = state_->shards[i];
  return {.name = std::string(state_->ShardName(shard)),
          .file_bytes = shard.file_bytes,
          .records = shard.records,
          .first_record = shard.first_record,
          .compression = static_cast<Compression>(shard.compression)};
}

std::string_view Index::shard_name(size_t i) const noexcept {
  return state_->ShardName(state_->shards[i]);
}

uint64_t Index::shard_bytes(size_t i) const noexcept { return state_->shards[i].file_bytes; }

RecordLocation Index::Locate(uint64_t ordinal) const {
  const auto shards = state_->shards;
  // Find the last shard that begins at or before the record; empty shards contain none.
  const auto after = std::ranges::upper_bound(shards, ordinal, {}, &IndexShard::first_record);
  const IndexShard& shard = *(after - 1);
  RecordLocation location{.shard = static_cast<uint32_t>(after - 1 - shards.begin()),
                          .ordinal = ordinal - shard.first_record};
  if (const auto crcs = state_->Crcs(shard); !crcs.empty()) location.crc = crcs[location.ordinal];
  if (shard.lengths_at == 0) {
    location.length = shard.stride;
    location.offset = location.ordinal * (uint64_t{shard.stride} + kFrameBytes);
    return location;
  }
  const auto* lengths = state_->At<uint32_t>(shard.lengths_at);
  const uint64_t block = location.ordinal / kRecordsPerBlock;
  uint64_t offset = state_->At<uint64_t>(shard.blocks_at)[block];
  for (uint64_t i = block * kRecordsPerBlock; i < location.ordinal; ++i) {
    offset += lengths[i] + kFrameBytes;
  }
  location.offset = offset;
  location.length = lengths[location.ordinal];
  return location;
}

void Index::CheckShard(size_t i, ByteView tail) const {
  const IndexShard& shard = state_->shards[i];
  if (shard.check == 0) return;
  std::span<const FlushPoint> points;
  if (shard.flush_points > 0) points = {state_->At<FlushPoint>(shard.flush_at), shard.flush_points};
  bool holds;
  if (shard.lengths_at == 0) {
    holds =
        ShardCheck(shard.records, shard.stride, state_->Crcs(shard), points, tail) == shard.check;
  } else {
    const std::span lengths(state_->At<uint32_t>(shard.lengths_at), shard.records);
    holds = ShardCheck(lengths, state_->Crcs(shard), points, tail) == shard.check &&
            BlocksHold(lengths, state_->At<uint64_t>(shard.blocks_at));
  }
  if (holds) return;
  throw Error(ErrorKind::kCorrupt,
              "is not the shard that was indexed, or the index's entries of it are damaged", {},
              "recpack verify tells which; recpack index rebuilds the index");
}

ShardEntries Index::Entries(size_t i) const {
  const IndexShard& shard = state_->shards[i];
  ShardEntries entries{.name = std::string(state_->ShardName(shard)),
                       .file_bytes = shard.file_bytes,
                       .compression = static_cast<Compression>(shard.compression),
                       .lengths = {},
                       .crcs = {},
                       .flush_points = {},
                       .check = shard.check};
  if (shard.lengths_at == 0) {
    entries.lengths.assign(shard.records, shard.stride);
  } else {
    const auto* lengths = state_->At<uint32_t>(shard.lengths_at);
    entries.lengths.assign(lengths, lengths + shard.records);
  }
  const auto crcs = state_->Crcs(shard);
  entries.crcs.assign(crcs.begin(), crcs.end());
  if (shard.flush_points > 0) {
    const auto* points = state_->At<FlushPoint>(shard.flush_at);
    entries.flush_points.assign(points, points + shard.flush_points);
  }
  return entries;
}

void RefuseOtherSize(const std::string& path, uint64_t bytes, uint64_t indexed) {
  if (bytes == indexed) return;
  throw Error(ErrorKind::kCorrupt, format("has {} bytes, its index says {}", bytes, indexed),
              {.path = path},
              bytes < indexed ? "copy the file again, it was cut off; if it was written anew, make "
                                "the index anew with `recpack index`"
                              : "copy the file again; if it was written anew, make the index anew "
                                "with `recpack index`");
}

}  // namespace recpack
