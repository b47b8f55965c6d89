#include "src/pack/check/repair.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/folders.h"
#include "recpack/base/parallel.h"
#include "recpack/record/index.h"
#include "src/base/format.h"
#include "src/pack/check/repair_shard.h"
#include "src/pack/plan/unfinished.h"
#include "src/remote/store/data_files.h"
#include "src/remote/url/url.h"
#include "src/shards/index/fitting_index.h"
#include "src/shards/index/indexed_shards.h"
#include "src/shards/index/ordered_index.h"
#include "src/shards/json/json.h"
#include "src/shards/layout/named_shards.h"
#include "src/shards/layout/split_folders.h"
#include "src/shards/manifest/side_file.h"

namespace recpack::pack {
namespace {

namespace fs = std::filesystem;

// Looks up shards of the split in its index. Finds nothing if the index is missing or unusable.
class KnownEntries {
 public:
  explicit KnownEntries(const LayoutSplit& split) {
    // Without the index, finding record boundaries takes longer.
    if (auto index = FindIndexAt(split.index)) shards_.emplace(std::move(*index));
  }

  // Also used for a truncated shard, which is shorter than its index says: the entries still hold.
  std::shared_ptr<const ShardEntries> Find(const std::string& file) const {
    const std::optional<size_t> number = shards_ ? shards_->Find(file) : std::nullopt;
    if (!number) return nullptr;
    return std::make_shared<const ShardEntries>(shards_->index().Entries(*number));
  }

 private:
  std::optional<IndexedShards> shards_;
};

std::vector<RepairedShard> RepairSplit(const LayoutSplit& split, const RepairOptions& options,
                                       const std::function<void(uint64_t)>& done) {
  const KnownEntries known(split);
  OrderedIndex index(PosixFiles(), options.out + "/" + split.name + ".recindex");
  std::vector<RepairedShard> shards(split.shards.size());
  ParallelFor(split.shards.size(), options.threads, [&](size_t, size_t i) {
    try {
      const std::string file = ShardName(split.shards[i]);
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

// Keeps the contents of the old manifest, except for the counts of splits with losses.
Manifest NewManifest(const Layout& layout, std::vector<std::vector<RepairedShard>> repaired) {
  Manifest manifest = layout.manifest.value_or(Manifest{.source_kind = "repair"});
  const auto old_splits = manifest.SplitsByName();
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
    if (const auto old = old_splits.find(name); old != old_splits.end() && whole) {
      split.class_counts = old->second->class_counts;
    }
    splits.push_back(std::move(split));
  }
  manifest.splits = std::move(splits);
  return manifest;
}

// Copies the side files that are readable and intact. The others are recorded as lost and removed
// from the manifest.
void CopySideFiles(const Layout& layout, const std::string& out, Manifest& manifest,
                   std::vector<LostRecords>& lost) {
  std::erase_if(manifest.files, [&](const ManifestFile& file) {
    ByteBuffer bytes;
    try {
      bytes = ReadSideFile(layout.folder, file);
    } catch (const Error& error) {
      ThrowIfRefused(error);
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

// Records whose framing is whole, but that are not those that were packed: one copied over another,
// which only the manifest's digest of the shard tells. Compressed shards are compressed anew, and
// not compared.
void AddChanged(const Layout& layout, const LayoutSplit& split,
                const std::vector<RepairedShard>& shards, std::vector<LostRecords>& lost) {
  const ManifestSplit* const listed =
      layout.manifest ? layout.manifest->FindSplit(split.name) : nullptr;
  if (!listed || listed->shards.size() != shards.size()) return;
  for (size_t i = 0; i < shards.size(); ++i) {
    const ManifestShard was = listed->shards[i];
    const bool is_told = !shards[i].lost.empty() || !was.sha256 || !shards[i].shard.sha256;
    if (is_told || was.compression != Compression::kNone || *was.sha256 == *shards[i].shard.sha256)
      continue;
    lost.push_back({.path = split.shards[i],
                    .end = shards[i].shard.bytes,
                    .records = {},
                    .reason = "its records are whole, but not all are those that were packed: the "
                              "manifest has another SHA-256; which ones cannot be told"});
  }
}

// Otherwise the new manifest would hide that some shards were never packed.
void AddUnpacked(const Layout& layout, std::vector<LostRecords>& lost) {
  try {
    if (const auto unfinished = FindUnfinished(layout)) {
      lost.push_back({.path = unfinished->plan, .records = {}, .reason = unfinished->Reason()});
    } else if (const auto missing = FindMissingShards(layout)) {
      lost.push_back({.path = layout.folder, .records = {}, .reason = missing->Reason()});
    }
  } catch (const Error& error) {
    ThrowIfRefused(error);
    lost.push_back({.path = error.place().path, .records = {}, .reason = error.reason()});
  }
}

// In one folder, one of the two would overwrite the other.
void RefuseNamesakes(const Layout& layout) {
  std::set<std::string> names;
  for (const LayoutSplit& split : layout.splits) {
    for (const std::string shard : split.shards) {
      const std::string name = ShardName(shard);
      if (names.insert(name).second) continue;
      throw Error(ErrorKind::kInvalidArgument,
                  format("another shard is also called {}, and all are saved in one folder", name),
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
  if (!layout.manifest_damage.empty()) {
    result.lost.push_back(
        {.path = layout.folder + "/" + kManifestName,
         .records = 0,
         .reason =
             format("the manifest is damaged ({}): shards and splits were taken from the names of "
                    "the files; class names, settings and other files that it listed are not "
                    "copied",
                    layout.manifest_damage)});
  }
  for (const Misnamed& shard : FindMisnamedShards(layout)) {
    result.lost.push_back(
        {.path = layout.folder + "/" + kManifestName,
         .records = 0,
         .reason = format("names {}, which was taken to mean {}", shard.listed, shard.found)});
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
    AddChanged(layout, split, repaired.back(), result.lost);
  }
  AddUnpacked(layout, result.lost);
  Manifest manifest = NewManifest(layout, std::move(repaired));
  CopySideFiles(layout, options.out, manifest, result.lost);
  for (LostRecords& lost : result.lost) lost.path = remote::WithoutSecrets(lost.path);
  WriteLedger(result, options.out);
  WriteManifest(PosixFiles(), options.out, manifest);
  return result;
}

}  // namespace recpack::pack
