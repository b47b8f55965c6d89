#include "src/pack/sources/tfrecord/record_shards.h"

#include <algorithm>

#include "recpack/base/error.h"
#include "recpack/base/parallel.h"
#include "recpack/record/framing.h"
#include "recpack/record/index.h"
#include "recpack/record/reader.h"
#include "src/base/format.h"
#include "src/remote/store/data_files.h"
#include "src/shards/index/fitting_index.h"
#include "src/shards/layout/layout.h"
#include "src/shards/layout/split_folders.h"

namespace recpack::pack {
namespace {

constexpr uint64_t kBlockRecords = 64;

// Writes records as consecutive frames to a spool file.
class FrameSpooler {
 public:
  explicit FrameSpooler(SpoolFile& spool) : spool_(spool) {}

  void Add(ByteView payload) {
    const size_t at = frames_.size();
    frames_.resize(at + kFrameBytes + payload.size());
    StoreFrameHeader(frames_.data() + at, payload.size());
    std::ranges::copy(payload, frames_.begin() + static_cast<ptrdiff_t>(at + kFrameHeaderBytes));
    StoreFrameFooter(frames_.data() + at + kFrameHeaderBytes + payload.size(), payload);
    if (frames_.size() >= kFlushBytes) Flush();
  }

  void Flush() {
    spool_.Append(frames_);
    frames_.clear();
  }

 private:
  static constexpr size_t kFlushBytes = size_t{1} << 20;

  SpoolFile& spool_;
  ByteBuffer frames_;
};

// Parses a record; errors carry its place.
void ParseAt(const Record& record, const std::string& path, ExampleView& example) {
  try {
    example.Parse(record.payload);
  } catch (const Error& error) {
    throw Error(error.kind(), error.reason(),
                {.path = path, .offset = record.offset, .ordinal = record.ordinal},
                "only tf.train.Example records can be filtered");
  }
}

// Tells whether the index, which lies in `folder`, describes this file at this position. Throws
// Error (kCorrupt) if the index gives another size and no manifest that lists the shard says which
// is right.
bool DescribesShard(const Index& index, const std::string& folder, size_t number,
                    const RecordShard& shard, bool is_listed) {
  if (number >= index.shard_count()) return false;
  const ShardSummary summary = index.shard(number);
  if (folder != FolderPath(shard.path) || summary.name != ShardName(shard.path)) {
    return false;
  }
  if (!is_listed) RefuseOtherSize(shard.path, shard.file_bytes, summary.file_bytes);
  return summary.file_bytes == shard.file_bytes && summary.compression == shard.compression;
}

// Compares a record, whose own CRCs hold, with the CRC that the index gives for it. Throws Error
// (kCorrupt) if it is another.
void HoldToIndex(const RecordShard& shard, uint64_t offset, uint64_t ordinal, uint32_t crc) {
  if (shard.crcs.empty() || (ordinal < shard.crcs.size() && shard.crcs[ordinal] == crc)) return;
  throw Error(ErrorKind::kCorrupt, "is not the record that the index lists here",
              {.path = shard.path, .offset = offset, .ordinal = ordinal},
              "recpack repair saves the others; if the shard is right, remove the index");
}

}  // namespace

void RecordPlaces::Add(uint32_t length) {
  if (lengths_.size() % kBlockRecords == 0) blocks_.push_back(end_);
  lengths_.push_back(length);
  end_ += kFrameBytes + length;
}

uint64_t RecordPlaces::Offset(uint64_t ordinal) const {
  const uint64_t block = ordinal / kBlockRecords;
  uint64_t offset = blocks_[block];
  for (uint64_t i = block * kBlockRecords; i < ordinal; ++i) offset += kFrameBytes + lengths_[i];
  return offset;
}

RecordShards::RecordShards(const Layout& layout, const RecordFilter& filter,
                           const RecordShardsOptions& options)
    : in_order_(options.in_order), spools_(options.work_folder) {
  std::vector<std::pair<size_t, size_t>> tasks;
  std::vector<SplitIndex> indexes;
  for (const LayoutSplit& split : layout.splits) {
    for (size_t i = 0; i < split.shards.size(); ++i) tasks.emplace_back(shards_.size(), i);
    shards_.emplace_back(split.shards.size());
    indexes.push_back({.index = FindIndexAt(split.index), .folder = FolderPath(split.index)});
    sources_.push_back(OpenSource(indexes.back()));
  }
  ParallelFor(tasks.size(), options.threads, [&](size_t, size_t task) {
    const auto [split, i] = tasks[task];
    RecordShard& shard = shards_[split][i];
    shard.path = layout.splits[split].shards[i];
    const auto listed = layout.splits[split].ListedAt(i);
    Open(shard, indexes[split], i, filter, listed.has_value());
    if (listed) {
      RefuseUnlisted(shard.path, {.records = shard.places.size(), .bytes = shard.file_bytes},
                     *listed);
    }
  });
  for (size_t split = 0; split < shards_.size(); ++split) {
    uint64_t items = 0;
    for (RecordShard& shard : shards_[split]) {
      shard.first_item = items;
      items += shard.items();
    }
    splits_.push_back({.name = layout.splits[split].name, .items = items});
  }
}

std::optional<RandomAccessReader> RecordShards::OpenSource(const SplitIndex& known) const {
  if (!in_order_ || !known.index) return {};
  return RandomAccessReader(*known.index, known.folder);
}

void RecordShards::Open(RecordShard& shard, const SplitIndex& known, size_t number,
                        const RecordFilter& filter, bool is_listed) {
  auto file = remote::DataFiles().OpenForReading(shard.path);
  shard.file_bytes = file->Size();
  shard.compression = RecordReader(std::move(file), {}).compression();
  const bool compressed = shard.compression != Compression::kNone;
  std::optional<ShardEntries> entries;
  if (known.index && DescribesShard(*known.index, known.folder, number, shard, is_listed)) {
    entries = known.index->Entries(number);
    if (in_order_ && !entries->flush_points.empty()) {
      shard.first_id = known.index->shard(number).first_record;
    } else {
      shard.crcs = std::move(entries->crcs);
    }
  }
  const bool unpack = compressed && !shard.first_id;
  if (unpack || !filter.empty()) return ReadThrough(shard, filter, unpack);
  if (!entries) entries = ScanShard(remote::DataFiles(), shard.path, false);
  for (const uint32_t length : entries->lengths) shard.places.Add(length);
}

void RecordShards::ReadThrough(RecordShard& shard, const RecordFilter& filter, bool unpack) {
  RecordReader reader(remote::DataFiles().OpenForReading(shard.path), {});
  SpoolFile* spool = unpack ? &spools_.Take() : nullptr;
  std::optional<FrameSpooler> spooler;
  if (unpack) {
    spooler.emplace(*spool);
    shard.places.Begin(spool->Size());
  }
  if (!filter.empty()) shard.kept.emplace();
  ExampleView example;
  Record record;
  while (reader.Next(record)) {
    if (record.payload.size() > kMaxPayloadBytes || record.ordinal > UINT32_MAX) {
      throw Error(ErrorKind::kUnsupported, "is too long, or holds too many records",
                  {.path = shard.path, .offset = record.offset, .ordinal = record.ordinal});
    }
    HoldToIndex(shard, record.offset, record.ordinal, MaskCrc(Crc32c(record.payload)));
    if (unpack) spooler->Add(record.payload);
    shard.places.Add(static_cast<uint32_t>(record.payload.size()));
    if (filter.empty()) continue;
    ParseAt(record, shard.path, example);
    if (filter.Keeps(example)) shard.kept->push_back(static_cast<uint32_t>(record.ordinal));
  }
  if (!unpack) return;
  spooler->Flush();
  shard.spool = spool;
  spools_.GiveBack(*spool);
}

RecordPlace RecordShards::Find(size_t split, uint64_t item) const {
  const auto& shards = shards_[split];
  const auto after = std::ranges::upper_bound(shards, item, {}, &RecordShard::first_item);
  const auto shard = static_cast<size_t>(after - shards.begin()) - 1;
  return {.split = split,
          .shard = shard,
          .ordinal = shards[shard].Ordinal(item - shards[shard].first_item)};
}

ByteView RecordShardReader::ReadStretch(const RecordPlace& place, uint64_t id) {
  auto found = sources_.find(place.split);
  if (found == sources_.end()) {
    found = sources_.emplace(place.split, shards_.source(place.split)->ForAnotherThread()).first;
  }
  record_ = found->second.Get(id);
  return record_.payload();
}

void RecordShardReader::Announce(const RecordPlace& place) {
  const RecordShard& shard = shards_.Shard(place);
  if (shard.first_id || shard.spool != nullptr) return;
  const size_t number = place.split << 32 | place.shard;
  files_.Get(number, shard.path, shard.file_bytes)
      .WillNeed(shard.places.Offset(place.ordinal),
                kFrameBytes + shard.places.length(place.ordinal));
}

ByteView RecordShardReader::Read(const RecordPlace& place) {
  const RecordShard& shard = shards_.Shard(place);
  if (shard.first_id) return ReadStretch(place, *shard.first_id + place.ordinal);
  const uint64_t offset = shard.places.Offset(place.ordinal);
  const uint32_t length = shard.places.length(place.ordinal);
  const auto room = buffer_.Room(kFrameBytes + length);
  const size_t number = place.split << 32 | place.shard;
  const ReadableFile& file =
      shard.spool != nullptr ? *shard.spool : files_.Get(number, shard.path, shard.file_bytes);
  if (file.ReadAt(offset, room) != room.size()) FailChanged(shard.path);
  const ByteView payload = room.subspan(kFrameHeaderBytes, length);
  const bool length_holds = FrameHeaderHolds(room.data()) && FrameLength(room.data()) == length;
  if (length_holds && FramePayloadHolds(payload)) {
    HoldToIndex(shard, offset, place.ordinal, FrameCrc(payload.data() + length));
    return payload;
  }
  throw Error(ErrorKind::kCorrupt,
              format("the CRC of the {} does not match", length_holds ? "payload" : "length"),
              {.path = shard.path, .offset = offset, .ordinal = place.ordinal},
              "repair the shards first");
}

}  // namespace recpack::pack
