#include "src/pack/check/repair.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/folders.h"
#include "recpack/base/parallel.h"
#include "recpack/record/crc32c.h"
#include "recpack/record/framing.h"
#include "recpack/record/index.h"
#include "recpack/record/reader.h"
#include "recpack/record/writer.h"
#include "src/base/format.h"
#include "src/pack/check/repeated_stretch.h"
#include "src/pack/plan/unfinished.h"
#include "src/shards/files/system_errors.h"
#include "src/shards/index/indexed_shards.h"
#include "src/shards/index/ordered_index.h"
#include "src/shards/json/json.h"
#include "src/shards/layout/named_shards.h"
#include "src/shards/layout/split_folders.h"
#include "src/shards/manifest/side_file.h"

namespace recpack::pack {
namespace {

namespace fs = std::filesystem;

// Lost is what is damaged, not what may be whole once the system lets us read it.
void EndIfRefused(const Error& error) {
  if (!IsRefused(error)) return;
  const std::string advice = error.advice().empty() ? "" : error.advice() + "; ";
  throw Error(error.kind(), error.reason(), error.place(),
              advice + "it may be whole: nothing is told to be lost, repair into another folder",
              error.error_number());
}

// The index's word on each shard of the split, where an index is there and fits; else nothing.
class KnownEntries {
 public:
  explicit KnownEntries(const LayoutSplit& split) {
    if (split.index.empty() || !fs::exists(split.index)) return;
    try {
      shards_.emplace(Index::Open(split.index));
    } catch (const Error&) {  // a damaged index only makes the search for boundaries longer
    }
  }

  // A shard that was cut is shorter than its index says: its entries hold all the same.
  std::shared_ptr<const ShardEntries> Find(const std::string& file) const {
    const std::optional<size_t> number = shards_ ? shards_->Find(file) : std::nullopt;
    if (!number) return nullptr;
    return std::make_shared<const ShardEntries>(shards_->index().Entries(*number));
  }

 private:
  std::optional<IndexedShards> shards_;
};

// How far a shard could be read.
struct Reach {
  uint64_t offset = 0;   // behind the last record or damage, in uncompressed bytes
  uint64_t ordinal = 0;  // of the record there
  std::string failure;   // why it ended there; empty: it is the shard's end
};

// Next(), and whether the operating system fails to read on.
bool ReadNext(RecordReader& reader, Record& record, Reach& reach) {
  try {
    return reader.Next(record);
  } catch (const Error& error) {
    EndIfRefused(error);
    if (error.kind() != ErrorKind::kIo) throw;
    reach.failure = error.reason();
    return false;
  }
}

// Records that stand in the shard twice.
struct Repeats {
  size_t begin = 0;
  size_t end = 0;
};

struct RepairedShard {
  ManifestShard shard;
  std::vector<LostRecords> lost;
  Repeats repeats = {};  // found in what was saved
};

// `marks`: of each record that is whole, those left out too.
Reach CopyIntact(RecordReader& reader, RecordWriter& writer, const Repeats& leave_out,
                 std::vector<RecordMark>& marks) {
  Reach reach;
  for (Record record; ReadNext(reader, record, reach);) {
    const size_t number = marks.size();
    marks.push_back(
        {.length = static_cast<uint32_t>(record.payload.size()), .crc = Crc32c(record.payload)});
    if (number < leave_out.begin || number >= leave_out.end) writer.Write(record.payload);
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

uint64_t EndOf(const ShardEntries& entries) {
  uint64_t end = 0;
  for (const uint32_t length : entries.lengths) end += length + kFrameBytes;
  return end;
}

// What is behind the place that the operating system fails at.
LostRecords RestOf(const std::string& path, const Reach& reach, Compression compression,
                   const ShardEntries* known) {
  LostRecords lost{.path = path,
                   .offset = reach.offset,
                   .end = reach.offset,
                   .ordinal = reach.ordinal,
                   .records = {},
                   .reason = reach.failure};
  if (known != nullptr) {
    lost.end = std::max(lost.end, EndOf(*known));
    lost.records = known->lengths.size() - std::min<uint64_t>(known->lengths.size(), reach.ordinal);
  } else if (compression == Compression::kNone) {
    std::error_code unknown;
    const uint64_t size = fs::file_size(path, unknown);
    if (!unknown) lost.end = std::max(lost.end, size);
  }
  return lost;
}

// Ends the shard that is written and gives it its name.
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

// One without records in the place of a shard that is not there or cannot be read.
RepairedShard ReplaceShard(const std::string& path, const std::string& why,
                           const ShardEntries* known, const std::string& out,
                           ShardEntries& entries) {
  const std::string file = fs::path(path).filename();
  RecordWriter writer(PosixFiles().Create(out + "/" + file + ".tmp"), {.digest = true});
  RepairedShard repaired{.shard = FinishShard(writer, file, out, entries), .lost = {}};
  LostRecords lost{.path = path, .records = {}, .reason = why};
  if (known != nullptr) {
    lost.records = known->lengths.size();
    lost.end = EndOf(*known);
  }
  repaired.lost.push_back(std::move(lost));
  return repaired;
}

// The index may be of shards that had these names before: how one is compressed its first bytes
// tell, unless they are damaged.
bool MayBeOf(const ShardEntries& known, std::unique_ptr<ReadableFile> file) {
  uint8_t header[kFrameHeaderBytes] = {};
  if (file->ReadAt(0, header) == sizeof header && FrameHeaderHolds(header)) {
    return known.compression == Compression::kNone;
  }
  const Compression told = RecordReader(std::move(file), {}).compression();
  return told == Compression::kNone || told == known.compression;
}

// How many records the shard should hold; empty where nothing says it, or index and manifest
// disagree and the size of the file does not tell which is right.
std::optional<uint64_t> CountOf(const ShardEntries* known, std::optional<ListedShard> listed,
                                uint64_t bytes) {
  if (known != nullptr &&
      (!listed || known->lengths.size() == listed->records || bytes == known->file_bytes)) {
    return known->lengths.size();
  }
  if (known == nullptr && listed && bytes != listed->bytes) return listed->records;
  return {};
}

ReaderOptions OptionsOf(const std::shared_ptr<const ShardEntries>& known) {
  return {.on_damage = ReaderOptions::OnDamage::kResynchronise, .entries = known};
}

// Records that are told to be lost; empty: of some piece nobody knows.
std::optional<uint64_t> CountLost(const std::vector<LostRecords>& lost) {
  uint64_t sum = 0;
  for (const LostRecords& piece : lost) {
    if (!piece.records) return {};
    sum += *piece.records;
  }
  return sum;
}

// Holds what was saved to the count of records that the index or the manifest gives: what no damage
// shows is lost or too many all the same.
void HoldToCount(const std::string& path, uint64_t expected, size_t left_out, const Reach& reach,
                 std::span<const RecordMark> marks, RepairedShard& repaired) {
  const uint64_t saved = repaired.shard.records;
  if (left_out > 0) {
    if (saved == expected) {  // only the repeated bytes were damaged
      for (LostRecords& piece : repaired.lost) piece.records = 0;
    }
    repaired.lost.push_back(
        {.path = path,
         .records = 0,
         .reason = format("{} records stood in it twice, and are saved once", left_out)});
    return;
  }
  const std::optional<uint64_t> lost = CountLost(repaired.lost);
  const uint64_t surplus =
      saved + lost.value_or(0) > expected ? saved + lost.value_or(0) - expected : 0;
  if (surplus > 0) {
    if (const auto begin = FindRepeatedStretch(marks, surplus)) {
      repaired.repeats = {*begin, *begin + surplus};
      return;
    }
    if (saved <= expected) return;
    repaired.lost.push_back(
        {.path = path,
         .records = 0,
         .reason = format("holds {} records more than its index or manifest counts, and which of "
                          "them are too many cannot be told: all are saved",
                          saved - expected)});
  } else if (lost && saved + *lost < expected) {
    repaired.lost.push_back({.path = path,
                             .offset = reach.offset,
                             .end = reach.offset,
                             .ordinal = reach.ordinal,
                             .records = expected - saved - *lost,
                             .reason = "the shard ends before these records"});
  }
}

// Writes the whole records that the reader gives but for `repeats`. `expected`: how many there
// should be, where that is known.
RepairedShard SaveIntact(const std::string& path, RecordReader& reader, Compression compression,
                         const ShardEntries* known, std::optional<uint64_t> expected,
                         const Repeats& repeats, const std::string& out, ShardEntries& entries) {
  const std::string file = fs::path(path).filename();
  RecordWriter writer(PosixFiles().Create(out + "/" + file + ".tmp"),
                      {.compression = compression, .digest = true});
  std::vector<RecordMark> marks;
  const Reach reach = CopyIntact(reader, writer, repeats, marks);
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
    repaired.lost.push_back(RestOf(path, reach, compression, known));
  } else if (expected) {
    HoldToCount(path, *expected, repeats.end - repeats.begin, reach, marks, repaired);
  }
  return repaired;
}

// `listed`: what the manifest says of it.
RepairedShard RepairShard(const std::string& path, std::shared_ptr<const ShardEntries> known,
                          std::optional<ListedShard> listed, const RepairOptions& options,
                          ShardEntries& entries) {
  FileSystem& files = options.files != nullptr ? *options.files : PosixFiles();
  const std::string& out = options.out;
  std::optional<RecordReader> reader;
  try {
    if (known && !MayBeOf(*known, files.OpenForReading(path))) known = nullptr;
    reader.emplace(files.OpenForReading(path), OptionsOf(known));
  } catch (const Error& error) {
    EndIfRefused(error);
    const bool missing = error.kind() == ErrorKind::kNotFound;
    if (!missing && error.kind() != ErrorKind::kIo) throw;
    return ReplaceShard(path, missing ? "the shard is not there" : error.reason(), known.get(), out,
                        entries);
  }
  const Compression compression = reader->compression();
  const std::optional<uint64_t> expected =
      CountOf(known.get(), listed, files.OpenForReading(path)->Size());
  Repeats repeats;
  for (;;) {
    RepairedShard repaired =
        SaveIntact(path, *reader, compression, known.get(), expected, repeats, out, entries);
    if (repeats.end > 0 || repaired.repeats.end == 0) return repaired;
    repeats = repaired.repeats;  // once more, without them
    reader.emplace(files.OpenForReading(path), OptionsOf(known));
  }
}

std::vector<RepairedShard> RepairSplit(const LayoutSplit& split, const RepairOptions& options,
                                       const std::function<void(uint64_t)>& done) {
  const KnownEntries known(split);
  OrderedIndex index(PosixFiles(), options.out + "/" + split.name + ".recindex");
  std::vector<RepairedShard> shards(split.shards.size());
  ParallelFor(split.shards.size(), options.threads, [&](size_t, size_t i) {
    try {
      const std::string file = fs::path(split.shards[i]).filename();
      ShardEntries entries;
      shards[i] =
          RepairShard(split.shards[i], known.Find(file), split.ListedAt(i), options, entries);
      index.Add(i, entries);
      done(shards[i].shard.bytes);
    } catch (...) {
      index.GiveUp();
      throw;
    }
  });
  index.Finish(true);
  return shards;
}

void WriteLedger(const RepairResult& result, const std::string& out) {
  std::string text;
  for (const auto& lost : result.lost) {
    const Json line = {{"path", lost.path},
                       {"offset", lost.offset},
                       {"end", lost.end},
                       {"ordinal", lost.ordinal},
                       {"records", lost.records ? Json(*lost.records) : Json("unknown")},
                       {"reason", lost.reason}};
    text += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  WriteFileAtomically(PosixFiles(), out + "/" + kLedgerName, AsBytes(text));
}

// What the old manifest says still holds, but for the counts of splits that lost something.
Manifest NewManifest(const Layout& layout, std::vector<std::vector<RepairedShard>> repaired) {
  Manifest manifest = layout.manifest.value_or(Manifest{.source_kind = "repair"});
  std::vector<ManifestSplit> splits;
  for (size_t i = 0; i < layout.splits.size(); ++i) {
    const std::string& name = layout.splits[i].name;
    ManifestSplit split{
        .name = name, .index = name + ".recindex", .shards = {}, .class_counts = {}};
    bool whole = true;
    for (auto& shard : repaired[i]) {
      whole &= shard.lost.empty();
      split.shards.push_back(shard.shard);
    }
    if (const auto* old = manifest.FindSplit(name); old != nullptr && whole) {
      split.class_counts = old->class_counts;
    }
    splits.push_back(std::move(split));
  }
  manifest.splits = std::move(splits);
  return manifest;
}

// Copies the side files that can be read and are whole; the others are lost, and the manifest lists
// them no more.
void CopySideFiles(const Layout& layout, const std::string& out, Manifest& manifest,
                   std::vector<LostRecords>& lost) {
  std::erase_if(manifest.files, [&](const ManifestFile& file) {
    ByteBuffer bytes;
    try {
      bytes = ReadSideFile(layout.folder, file);
    } catch (const Error& error) {
      EndIfRefused(error);
      lost.push_back({.path = layout.folder + "/" + file.file,
                      .end = file.bytes,
                      .records = 0,
                      .reason = error.reason()});
      return true;
    }
    WriteFileAtomically(PosixFiles(), out + "/" + file.file, bytes);
    return false;
  });
}

// The new manifest would hide that shards were never packed.
void AddUnpacked(const Layout& layout, std::vector<LostRecords>& lost) {
  try {
    if (const auto unfinished = FindUnfinished(layout)) {
      lost.push_back({.path = unfinished->plan, .records = {}, .reason = unfinished->Reason()});
    } else if (const auto missing = FindMissingShards(layout)) {
      lost.push_back({.path = layout.folder, .records = {}, .reason = missing->Reason()});
    }
  } catch (const Error& error) {
    EndIfRefused(error);
    lost.push_back({.path = error.place().path, .records = {}, .reason = error.reason()});
  }
}

// One of the two would take the place of the other.
void RefuseNamesakes(const Layout& layout) {
  std::set<std::string> names;
  for (const LayoutSplit& split : layout.splits) {
    for (const std::string shard : split.shards) {
      const std::string name = fs::path(shard).filename();
      if (names.insert(name).second) continue;
      throw Error(ErrorKind::kInvalidArgument,
                  format("another shard is called {}, too, and all are saved in one folder", name),
                  {.path = shard},
                  "repair them folder by folder; where a manifest names one file twice, name the "
                  "shards by a pattern");
    }
  }
}

void PrepareFolder(const std::string& out) {
  MakeFolder(out, true);
  if (!fs::is_empty(out)) {
    throw Error(ErrorKind::kInvalidArgument, "the output folder is not empty", {.path = out},
                "choose another folder, or empty it");
  }
}

}  // namespace

RepairResult Repair(const Layout& given, const RepairOptions& options) {
  Layout layout = given;
  RepairResult result;
  for (const Misnamed& shard : FindMisnamedShards(layout)) {
    result.lost.push_back(
        {.path = layout.folder + "/" + kManifestName,
         .records = 0,
         .reason = format("names {}, by which {} is meant", shard.listed, shard.found)});
  }
  RefuseNamesakes(layout);
  PrepareFolder(options.out);
  std::mutex mutex;
  uint64_t bytes_done = 0;
  const auto done = [&](uint64_t bytes) {
    const std::lock_guard lock(mutex);
    bytes_done += bytes;
    if (options.progress) options.progress(bytes_done);
  };
  std::vector<std::vector<RepairedShard>> repaired;
  for (const auto& split : layout.splits) {
    repaired.push_back(RepairSplit(split, options, done));
    for (const auto& shard : repaired.back()) {
      result.records += shard.shard.records;
      result.bytes += shard.shard.bytes;
      std::ranges::copy(shard.lost, std::back_inserter(result.lost));
    }
  }
  AddUnpacked(layout, result.lost);
  Manifest manifest = NewManifest(layout, std::move(repaired));
  CopySideFiles(layout, options.out, manifest, result.lost);
  WriteLedger(result, options.out);
  WriteManifest(PosixFiles(), options.out, manifest);
  return result;
}

}  // namespace recpack::pack
