#include "recpack/record/parallel.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/base/parallel.h"
#include "src/base/format.h"

namespace recpack {
namespace {

using OnRecord = std::function<void(const ShardRecord&)>;
constexpr auto kFail = ReaderOptions::OnDamage::kFail;

struct Unit {
  size_t shard = 0;
  std::optional<ShardPiece> piece;
};

// Returns the first record from `low` on whose frame begins at or after `offset`; the record count
// if there is none.
uint64_t FirstFrom(const Index& index, const ShardSummary& shard, uint64_t low, uint64_t offset) {
  uint64_t high = std::max(shard.records, low);
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    const bool before = index.Locate(shard.first_record + middle).offset < offset;
    (before ? low : high) = before ? middle + 1 : middle;
  }
  return low;
}

void AddPieces(const Index& index, size_t shard, uint64_t piece_bytes, std::vector<Unit>& units) {
  const ShardSummary summary = index.shard(shard);
  if (summary.compression != Compression::kNone) return units.push_back({shard, {}});
  ShardPiece piece;
  for (;;) {
    const uint64_t next =
        FirstFrom(index, summary, piece.first_record + 1, piece.offset + piece_bytes);
    if (next >= summary.records) break;
    piece.end = index.Locate(summary.first_record + next).offset;
    units.push_back({shard, piece});
    piece = {.offset = piece.end, .first_record = next};
  }
  units.push_back({shard, piece});  // up to the end of the file
}

// Tells whether shards may be split: pieces need the CRCs of lengths to detect an index of another
// shard, and resynchronisation could cross the end of a piece.
std::vector<Unit> SplitUnits(const Index& index, int threads, const ReaderOptions& options,
                             uint64_t piece_bytes) {
  constexpr size_t kEnough = 16;  // shards per thread: the last one is then a small share
  const size_t shards = index.shard_count();
  const bool whole = !options.verify || options.on_damage != kFail ||
                     shards >= kEnough * ParallelThreads(shards, threads) + kEnough;
  std::vector<Unit> units;
  for (size_t i = 0; i < shards; ++i) {
    whole ? units.push_back({i, {}}) : AddPieces(index, i, piece_bytes, units);
  }
  return units;
}

void CheckSize(const ReadableFile& file, uint64_t expected) {
  if (const uint64_t size = file.Size(); size != expected) {
    throw Error(ErrorKind::kCorrupt, format("has {} bytes, its index says {}", size, expected),
                {.path = file.path()}, "if it is whole, rebuild the index with `recpack index`");
  }
}

}  // namespace

void ReadShards(std::span<const std::string> paths, int threads, const ReaderOptions& options,
                const std::function<void(const ShardRecord&)>& on_record, FileSystem& files) {
  ParallelFor(paths.size(), threads, [&](size_t worker, size_t shard) {
    RecordReader reader(files.OpenForReading(paths[shard]), options);
    ShardRecord at{.worker = worker, .shard = shard, .record = {}};
    while (reader.Next(at.record)) on_record(at);
  });
}

void ReadShards(const Index& index, const std::string& folder, int threads,
                const ReaderOptions& options, const OnRecord& on_record, FileSystem& files,
                uint64_t piece_bytes) {
  const std::vector<Unit> units =
      SplitUnits(index, threads, options, std::max<uint64_t>(piece_bytes, 1));
  ParallelFor(units.size(), threads, [&](size_t worker, size_t i) {
    const Unit& unit = units[i];
    ReaderOptions own = options;
    own.piece = unit.piece;
    auto file = files.OpenForReading(std::filesystem::path(folder) / index.shard(unit.shard).name);
    if (own.on_damage == kFail) {
      CheckSize(*file, index.shard_bytes(unit.shard));
    } else {
      own.entries = std::make_shared<ShardEntries>(index.Entries(unit.shard));
    }
    RecordReader reader(std::move(file), own);
    ShardRecord at{.worker = worker, .shard = unit.shard, .record = {}};
    while (reader.Next(at.record)) on_record(at);
  });
}

}  // namespace recpack
