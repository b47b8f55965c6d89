#include "src/dataset/finish_pack.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/record/index.h"
#include "src/base/format.h"
#include "src/dataset/manifest_schema.h"
#include "src/dataset/sidecar.h"

namespace recpack {
namespace {

// The split of that name, added at the end where it is new.
ManifestSplit& SplitOf(Manifest& manifest, const std::string& name) {
  for (auto& split : manifest.splits) {
    if (split.name == name) return split;
  }
  manifest.splits.push_back(
      {.name = name, .index = name + ".recindex", .shards = {}, .class_counts = {}});
  return manifest.splits.back();
}

void AddShard(const std::string& split_name, const Sidecar& sidecar, Manifest& manifest) {
  ManifestSplit& split = SplitOf(manifest, split_name);
  split.shards.push_back(sidecar.shard);
  for (const auto& [label, count] : sidecar.class_counts) split.class_counts[label] += count;
  if (sidecar.shard.records > 0) MergeSchema(sidecar.schema, manifest.schema);
  manifest.skipped.insert(manifest.skipped.end(), sidecar.skipped.begin(), sidecar.skipped.end());
}

Manifest StartManifest(const Source& source, const Plan& plan, const PackFolder& folder,
                       const PackOptions& options) {
  if (!folder.base()) {
    Manifest manifest;
    manifest.source_kind = source.kind();
    manifest.created_by = options.created_by;
    manifest.settings = plan.settings;
    manifest.class_names = source.class_names();
    return manifest;
  }
  Manifest manifest = *folder.base();
  if (manifest.class_names != source.class_names()) {
    throw Error(ErrorKind::kInvalidArgument,
                "the classes of the source are not those of the data set it is appended to",
                {.path = options.out}, "labels would change their meaning: pack it on its own");
  }
  return manifest;
}

// Whether the shards of the plan are in the manifest: it names all of them or none.
bool Lists(const Manifest& manifest, const Plan& plan) {
  for (const auto& split : manifest.splits) {
    for (const auto& shard : split.shards) {
      if (shard.file == plan.shards.front().file) return true;
    }
  }
  return false;
}

void AddEntries(const std::string& file, const PackFolder& folder, const std::optional<Index>& old,
                const std::string& path, const PackOptions& options, IndexWriter& writer) {
  const std::string part = folder.IndexPartPath(file);
  if (std::filesystem::exists(part)) return writer.AddShard(Index::Open(part).Entries(0));
  for (size_t i = 0; old && i < old->shard_count(); ++i) {
    if (old->shard(i).name == file) return writer.AddShard(old->Entries(i));
  }
  ShardEntries entries = ScanShard(*options.files, path, true);
  entries.name = file;
  writer.AddShard(entries);
}

void WriteIndex(const ManifestSplit& split, const PackFolder& folder, const PackOptions& options) {
  const std::string path = options.out + "/" + split.index;
  const std::string temporary = folder.StatePath(format("{}.tmp-{}", split.index, ::getpid()));
  std::optional<Index> old;
  if (std::filesystem::exists(path)) old = Index::Open(path);
  IndexWriter writer(options.files->Create(temporary));
  for (const auto& shard : split.shards) {
    AddEntries(shard.file, folder, old, options.out + "/" + shard.file, options, writer);
  }
  writer.Finish(options.sync);
  options.files->Rename(temporary, path, options.sync);
}

void WriteDaliIndexes(const ManifestSplit& split, const PackOptions& options) {
  const Index index = Index::Open(options.out + "/" + split.index);
  for (size_t i = 0; i < index.shard_count(); ++i) {
    const ShardEntries entries = index.Entries(i);
    WriteFileAtomically(*options.files, options.out + "/" + entries.name + ".idx",
                        AsBytes(DaliIndexText(entries)), options.sync);
  }
}

}  // namespace

bool FinishPack(const Source& source, const Plan& plan, const PackFolder& folder,
                const PackOptions& options, Manifest& manifest) {
  manifest = StartManifest(source, plan, folder, options);
  if (Lists(manifest, plan)) return true;  // an append that was made before
  for (const auto& shard : plan.shards) {
    const auto sidecar = folder.FindComplete(shard);
    if (!sidecar) return false;
    AddShard(plan.splits[shard.split].name, *sidecar, manifest);
  }
  const Descriptor turn = folder.TakeTurn();
  for (const auto& split : manifest.splits) {
    WriteIndex(split, folder, options);
    if (options.dali_index) WriteDaliIndexes(split, options);
  }
  WriteFileAtomically(*options.files, options.out + "/" + kManifestName,
                      AsBytes(ManifestToJson(manifest)), options.sync);
  for (const auto& shard : plan.shards) {
    std::error_code ignored;
    std::filesystem::remove(folder.IndexPartPath(shard.file), ignored);
  }
  folder.RemoveStaleTemporaries(plan);
  return true;
}

}  // namespace recpack
