#include "src/pack/job/finish_pack.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/record/index.h"
#include "src/base/format.h"
#include "src/pack/job/side_files.h"
#include "src/pack/job/stale_files.h"
#include "src/shards/index/indexed_shards.h"
#include "src/shards/manifest/manifest_schema.h"
#include "src/shards/manifest/sidecar.h"

namespace recpack::pack {
namespace {

// Returns the split of that name; adds it at the end if it is new.
ManifestSplit& FindOrAddSplit(Manifest& manifest, const std::string& name) {
  for (auto& split : manifest.splits) {
    if (split.name == name) return split;
  }
  manifest.splits.push_back(
      {.name = name, .index = name + ".recindex", .shards = {}, .class_counts = {}});
  return manifest.splits.back();
}

void AddShard(const std::string& split_name, const Sidecar& sidecar, Manifest& manifest) {
  ManifestSplit& split = FindOrAddSplit(manifest, split_name);
  split.shards.push_back(sidecar.shard);
  for (const auto& [label, count] : sidecar.class_counts) split.class_counts[label] += count;
  if (sidecar.shard.records > 0) MergeSchema(sidecar.schema, manifest.schema);
  manifest.skipped.insert(manifest.skipped.end(), sidecar.skipped.begin(), sidecar.skipped.end());
}

// Settings that the bytes depend on. Those of a plan also have the number of tasks, which divides
// the work and changes no byte; so have manifests of older versions.
std::map<std::string, std::string> ByteSettings(std::map<std::string, std::string> settings) {
  settings.erase("tasks");
  return settings;
}

// Moves the manifest that is appended to out of `folder`.
Manifest StartManifest(const Source& source, const Plan& plan, PackFolder& folder,
                       const PackOptions& options) {
  if (!folder.base()) {
    Manifest manifest;
    manifest.source_kind = source.kind();
    manifest.created_by = options.created_by;
    manifest.settings = ByteSettings(plan.settings);
    manifest.class_names = source.class_names();
    return manifest;
  }
  return std::move(*folder.base());
}

// The index before an append, if any.
using OldIndex = std::optional<IndexedShards>;

// Returns nullopt if the file is missing or was truncated by a power failure.
std::optional<ShardEntries> ReadIndexPart(const std::string& path) {
  if (!std::filesystem::exists(path)) return {};
  try {
    const Index part = Index::Open(path);
    if (part.shard_count() == 1) return part.Entries(0);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kCorrupt) throw;
  }
  return {};
}

ShardEntries FindEntries(const std::string& file, const PackFolder& folder, const OldIndex& old,
                         const PackOptions& options) {
  if (auto entries = ReadIndexPart(folder.IndexPartPath(file))) {
    entries->name = file;  // the part of a stream is written before its shard has a name
    return std::move(*entries);
  }
  if (const auto found = old ? old->Find(file) : std::nullopt) return old->index().Entries(*found);
  ShardEntries entries = ScanShard(*options.files, folder.ShardPath(file), true);
  entries.name = file;
  return entries;
}

void WriteIndex(const std::string& name, const NameList& files, const PackFolder& folder,
                const PackOptions& options) {
  const std::string path = options.out + "/" + name;
  const std::string temporary = folder.StatePath(format("{}.tmp-{}", name, ::getpid()));
  OldIndex old;
  if (std::filesystem::exists(path)) old.emplace(Index::Open(path));
  IndexWriter writer(options.files->Create(temporary));
  for (const auto& file : files) {
    writer.AddShard(FindEntries(file, folder, old, options));
  }
  writer.Finish(options.sync);
  options.files->Rename(temporary, path, options.sync);
}

void WriteDaliIndexes(const std::string& name, const PackOptions& options) {
  const Index index = Index::Open(options.out + "/" + name);
  for (size_t i = 0; i < index.shard_count(); ++i) {
    const ShardEntries entries = index.Entries(i);
    WriteFileAtomically(*options.files, options.out + "/" + entries.name + ".idx",
                        AsBytes(DaliIndexText(entries)), options.sync);
  }
}

// Sums the skipped items of all shards of the plan; nullopt if shards are missing.
std::optional<uint64_t> SkippedInAll(const Plan& plan, const PackOptions& options) {
  uint64_t skipped = 0;
  for (const auto& file : plan.shards.files()) {
    const auto sidecar = FindSidecar(*options.files, options.out, file);
    if (!sidecar) return {};
    skipped += sidecar->skipped.size();
  }
  return skipped;
}

// Returns the shards of each index by its file name: those of the manifest and of the plan.
std::map<std::string, NameList> ShardsOfIndexes(Manifest& manifest, const Plan& plan) {
  std::map<std::string, NameList> shards;
  for (const auto& split : manifest.splits) shards[split.index] = split.shards.files();
  for (const auto& shard : plan.shards) {
    const ManifestSplit& split = FindOrAddSplit(manifest, plan.splits[shard.split].name);
    shards[split.index].push_back(shard.file);
  }
  return shards;
}

void WriteIndexes(Manifest& manifest, const Plan& plan, const PackFolder& folder,
                  const PackOptions& options) {
  const std::map<std::string, NameList> indexes = ShardsOfIndexes(manifest, plan);
  // One after the other: a manifest takes 60 bytes a shard, the table of an index 80.
  if (options.append) manifest = {};
  for (const auto& [index, files] : indexes) {
    WriteIndex(index, files, folder, options);
    if (options.dali_index) WriteDaliIndexes(index, options);
  }
}

// Returns the existing manifest if it has shards that were appended after those of the plan:
// packing the plan again must not remove them.
std::optional<Manifest> ManifestWithAppended(const Plan& plan, const PackFolder& folder,
                                             const PackOptions& options) {
  if (options.append || folder.LastAppend() == 0) return {};
  if (!options.files->Exists(options.out + "/" + kManifestName)) return {};
  Manifest manifest = ReadManifest(*options.files, options.out);
  const bool same_bytes = ByteSettings(manifest.settings) == ByteSettings(plan.settings);
  if (!same_bytes || !Lists(manifest, plan)) return {};
  for (ManifestSplit& split : manifest.splits) {
    ShardList shards;
    for (const ManifestShard& row : split.shards) {
      const bool planned = plan.shards.files().Find(row.file).has_value();
      const auto sidecar =
          planned ? FindSidecar(*options.files, options.out, row.file) : std::nullopt;
      shards.push_back(sidecar ? sidecar->shard : row);
    }
    split.shards = std::move(shards);
  }
  return manifest;
}

}  // namespace

PackFinish FinishPack(const Source& source, const Plan& plan, PackFolder& folder,
                      const PackOptions& options, uint64_t skip_limit, Manifest& manifest) {
  manifest = StartManifest(source, plan, folder, options);
  if (Lists(manifest, plan)) return PackFinish::kDone;  // an earlier append
  const auto skipped = SkippedInAll(plan, options);
  if (!skipped) return PackFinish::kShardsMissing;
  if (*skipped > skip_limit) return PackFinish::kTooManySkipped;
  const Descriptor turn = folder.TakeTurn();
  if (auto grown = ManifestWithAppended(plan, folder, options)) {
    manifest = std::move(*grown);
    WriteIndexes(manifest, {}, folder, options);
  } else {
    WriteIndexes(manifest, plan, folder, options);
    if (options.append) {
      manifest = ReadManifest(*options.files, options.out);
      if (Lists(manifest, plan)) return PackFinish::kDone;  // another task was faster
    }
    for (const auto& shard : plan.shards) {
      const auto sidecar = FindSidecar(*options.files, options.out, shard.file);
      if (!sidecar) return PackFinish::kShardsMissing;
      AddShard(plan.splits[shard.split].name, *sidecar, manifest);
    }
  }
  WriteSideFiles(source, folder, options, manifest);
  WriteManifest(*options.files, options.out, manifest, options.sync);
  for (const auto& file : plan.shards.files()) {
    std::error_code ignored;
    std::filesystem::remove(folder.IndexPartPath(file), ignored);
  }
  RemoveStaleTemporaries(plan, folder, options);
  return PackFinish::kDone;
}

}  // namespace recpack::pack
