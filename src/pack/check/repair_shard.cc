#include "src/pack/check/repair_shard.h"

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <utility>

#include "recpack/base/file.h"
#include "recpack/record/crc32c.h"
#include "recpack/record/framing.h"
#include "recpack/record/reader.h"
#include "recpack/record/writer.h"
#include "src/pack/check/count_records.h"
#include "src/remote/store/data_files.h"
#include "src/shards/files/system_errors.h"
#include "src/shards/layout/split_folders.h"

namespace recpack::pack {
namespace {

// Calls Next(); a read error of the operating system is stored in `reach`.
bool ReadNext(RecordReader& reader, Record& record, Reach& reach) {
  try {
    return reader.Next(record);
  } catch (const Error& error) {
    ThrowIfRefused(error);
    if (error.kind() != ErrorKind::kIo) throw;
    reach.failure = error.reason();
    return false;
  }
}

// `marks` gets one entry per intact record, including those left out. `leave_out`: numbers, rising.
Reach CopyIntact(RecordReader& reader, RecordWriter& writer, std::span<const size_t> leave_out,
                 std::vector<RecordMark>& marks) {
  Reach reach;
  for (Record record; ReadNext(reader, record, reach);) {
    if (leave_out.empty() || leave_out.front() != marks.size()) {
      writer.Write(record.payload);
    } else {
      leave_out = leave_out.subspan(1);
    }
    marks.push_back({.length = static_cast<uint32_t>(record.payload.size()),
                     .crc = MaskCrc(Crc32c(record.payload))});
    reach.offset = record.offset + record.payload.size() + kFrameBytes;
    reach.ordinal = record.ordinal + 1;
  }
  if (!reader.damages().empty() && reader.damages().back().end > reach.offset) {
    const Damage& last = reader.damages().back();
    reach.offset = last.end;
    reach.ordinal = last.ordinal + last.lost.value_or(0);
  }
  return reach;
}

uint64_t EndOffset(const ShardEntries& entries) {
  uint64_t end = 0;
  for (const uint32_t length : entries.lengths) end += length + kFrameBytes;
  return end;
}

// Describes the loss of everything after a read error.
LostRecords DescribeRest(const std::string& path, const Reach& reach, Compression compression,
                         const ShardEntries* known) {
  LostRecords lost{.path = path,
                   .offset = reach.offset,
                   .end = reach.offset,
                   .ordinal = reach.ordinal,
                   .records = {},
                   .reason = reach.failure};
  if (known != nullptr) {
    lost.end = std::max(lost.end, EndOffset(*known));
    lost.records = known->lengths.size() - std::min<uint64_t>(known->lengths.size(), reach.ordinal);
  } else if (compression == Compression::kNone) {
    lost.end = std::max(lost.end, remote::FileBytes(path).value_or(0));
  }
  return lost;
}

// Finishes the new shard and renames it into place.
ManifestShard FinishShard(RecordWriter& writer, const std::string& file, const std::string& out,
                          ShardEntries& entries) {
  writer.Finish(true);
  PosixFiles().Rename(out + "/" + file + ".tmp", out + "/" + file, true);
  entries = writer.entries();
  entries.name = file;
  return {.file = file,
          .records = entries.lengths.size(),
          .bytes = entries.file_bytes,
          .compression = entries.compression,
          .sha256 = writer.digest()};
}

// Writes a shard without records in place of a missing or unreadable one.
RepairedShard ReplaceShard(const std::string& path, const std::string& why,
                           const ShardEntries* known, const std::string& out,
                           ShardEntries& entries) {
  const std::string file = ShardName(path);
  RecordWriter writer(PosixFiles().Create(out + "/" + file + ".tmp"), {.digest = true});
  RepairedShard repaired{.shard = FinishShard(writer, file, out, entries), .lost = {}};
  LostRecords lost{.path = path, .records = {}, .reason = why};
  if (known != nullptr) {
    lost.records = known->lengths.size();
    lost.end = EndOffset(*known);
  }
  repaired.lost.push_back(std::move(lost));
  return repaired;
}

// Tells whether the index describes this file rather than an earlier one of the same name: the
// first bytes tell its compression, unless they are damaged.
bool MayDescribe(const ShardEntries& known, std::unique_ptr<ReadableFile> file) {
  uint8_t header[kFrameHeaderBytes] = {};
  if (file->ReadAt(0, header) == sizeof header && FrameHeaderHolds(header)) {
    return known.compression == Compression::kNone;
  }
  const Compression told = RecordReader(std::move(file), {}).compression();
  return told == Compression::kNone || told == known.compression;
}

ReaderOptions MakeReaderOptions(const std::shared_ptr<const ShardEntries>& known) {
  return {.on_damage = ReaderOptions::OnDamage::kResynchronise, .entries = known};
}

// Writes the intact records from the reader, leaving out `surplus`. `expected`: number of records
// there should be, if known.
RepairedShard SaveIntact(const std::string& path, RecordReader& reader, Compression compression,
                         const ShardEntries* known, std::optional<uint64_t> expected,
                         const std::vector<size_t>& surplus, const std::string& out,
                         ShardEntries& entries) {
  const std::string file = ShardName(path);
  RecordWriter writer(PosixFiles().Create(out + "/" + file + ".tmp"),
                      {.compression = compression, .digest = true});
  std::vector<RecordMark> marks;
  const Reach reach = CopyIntact(reader, writer, surplus, marks);
  RepairedShard repaired{.shard = FinishShard(writer, file, out, entries), .lost = {}};
  for (const Damage& damage : reader.damages()) {
    repaired.lost.push_back({.path = path,
                             .offset = damage.offset,
                             .end = damage.end,
                             .ordinal = damage.ordinal,
                             .records = damage.lost,
                             .reason = damage.reason});
  }
  if (!reach.failure.empty()) {
    repaired.lost.push_back(DescribeRest(path, reach, compression, known));
    return repaired;
  }
  if (surplus.empty() && known != nullptr) repaired.surplus = FindSurplus(marks, *known);
  if (!surplus.empty() && !expected) expected = known->lengths.size();
  if (expected && repaired.surplus.empty()) {
    CompareWithCount(path, *expected, surplus.size(), reach, marks, repaired);
  }
  return repaired;
}

}  // namespace

void ThrowIfRefused(const Error& error) {
  if (!IsRefused(error)) return;
  const std::string advice = error.advice().empty() ? "" : error.advice() + "; ";
  throw Error(error.kind(), error.reason(), error.place(),
              advice + "it may be whole, so it is not reported as lost; repair into another folder",
              error.error_number());
}

RepairedShard RepairShard(const std::string& path, std::shared_ptr<const ShardEntries> known,
                          std::optional<ListedShard> listed, const RepairOptions& options,
                          ShardEntries& entries) {
  FileSystem& files = options.files != nullptr ? *options.files : remote::DataFiles();
  const std::string& out = options.out;
  std::optional<RecordReader> reader;
  try {
    if (known && !MayDescribe(*known, files.OpenForReading(path))) known = nullptr;
    reader.emplace(files.OpenForReading(path), MakeReaderOptions(known));
  } catch (const Error& error) {
    ThrowIfRefused(error);
    const bool missing = error.kind() == ErrorKind::kNotFound;
    if (!missing && error.kind() != ErrorKind::kIo) throw;
    return ReplaceShard(path, missing ? "the shard is missing" : error.reason(), known.get(), out,
                        entries);
  }
  const Compression compression = reader->compression();
  const std::optional<uint64_t> expected =
      ExpectedRecords(known.get(), listed, files.OpenForReading(path)->Size());
  std::vector<size_t> surplus;
  for (;;) {
    RepairedShard repaired =
        SaveIntact(path, *reader, compression, known.get(), expected, surplus, out, entries);
    if (!surplus.empty() || repaired.surplus.empty()) return repaired;
    surplus = std::move(repaired.surplus);  // second pass, without them
    reader.emplace(files.OpenForReading(path), MakeReaderOptions(known));
  }
}

}  // namespace recpack::pack
