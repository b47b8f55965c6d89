#include "src/dataset/finish_pack.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
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

// Takes the manifest that is appended to out of the folder.
Manifest StartManifest(const Source& source, const Plan& plan, PackFolder& folder,
                       const PackOptions& options) {
  if (!folder.base()) {
    Manifest manifest;
    manifest.source_kind = source.kind();
    manifest.created_by = options.created_by;
    manifest.settings = plan.settings;
    manifest.class_names = source.class_names();
    return manifest;
  }
  Manifest manifest = std::move(*folder.base());
  if (manifest.class_names != source.class_names()) {
    throw Error(ErrorKind::kInvalidArgument,
                "the classes of the source are not those of the data set it is appended to",
                {.path = options.out}, "labels would change their meaning: pack it on its own");
  }
  return manifest;
}

// What the index that is there says of its shards, looked up in about its own order.
class OldIndex {
 public:
  explicit OldIndex(const std::string& path) {
    if (std::filesystem::exists(path)) index_ = Index::Open(path);
  }

  std::optional<ShardEntries> Find(const std::string& file) {
    const size_t shards = index_ ? index_->shard_count() : 0;
    for (size_t tried = 0; tried < shards; ++tried) {
      const size_t at = next_++ % shards;
      if (index_->shard(at).name == file) return index_->Entries(at);
    }
    return {};
  }

 private:
  std::optional<Index> index_;
  size_t next_ = 0;
};

ShardEntries EntriesOf(const std::string& file, const PackFolder& folder, OldIndex& old,
                       const PackOptions& options) {
  const std::string part = folder.IndexPartPath(file);
  if (std::filesystem::exists(part)) return Index::Open(part).Entries(0);
  if (auto found = old.Find(file)) return *std::move(found);
  ShardEntries entries = ScanShard(*options.files, folder.ShardPath(file), true);
  entries.name = file;
  return entries;
}

void WriteIndex(const std::string& name, const NameList& files, const PackFolder& folder,
                const PackOptions& options) {
  const std::string path = options.out + "/" + name;
  const std::string temporary = folder.StatePath(format("{}.tmp-{}", name, ::getpid()));
  OldIndex old(path);
  IndexWriter writer(options.files->Create(temporary));
  for (const auto& file : files) {
    writer.AddShard(EntriesOf(file, folder, old, options));
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

bool AllComplete(const Plan& plan, const PackFolder& folder) {
  return std::ranges::all_of(plan.shards.files(), [&](const std::string& file) {
    return folder.FindComplete(file).has_value();
  });
}

// Of what the manifest lists and of what the plan adds to it.
void WriteIndexes(Manifest& manifest, const Plan& plan, const PackFolder& folder,
                  const PackOptions& options) {
  std::map<std::string, NameList> added;
  for (const auto& shard : plan.shards) {
    const std::string& split = plan.splits[shard.split].name;
    SplitOf(manifest, split);
    added[split].push_back(shard.file);
  }
  for (const auto& split : manifest.splits) {
    NameList files = split.shards.files();
    for (const auto& file : added[split.name]) files.push_back(file);
    WriteIndex(split.index, files, folder, options);
    if (options.dali_index) WriteDaliIndexes(split.index, options);
  }
}

}  // namespace

bool FinishPack(const Source& source, const Plan& plan, PackFolder& folder,
                const PackOptions& options, Manifest& manifest) {
  manifest = StartManifest(source, plan, folder, options);
  if (Lists(manifest, plan)) return true;  // an append that was made before
  if (!AllComplete(plan, folder)) return false;
  const Descriptor turn = folder.TakeTurn();
  WriteIndexes(manifest, plan, folder, options);
  // Only now: the table of an index and the rows of the manifest take 150 bytes a shard together.
  for (const auto& shard : plan.shards) {
    const auto sidecar = folder.FindComplete(shard.file);
    if (!sidecar) return false;
    AddShard(plan.splits[shard.split].name, *sidecar, manifest);
  }
  WriteManifest(*options.files, options.out, manifest, options.sync);
  for (const auto& file : plan.shards.files()) {
    std::error_code ignored;
    std::filesystem::remove(folder.IndexPartPath(file), ignored);
  }
  folder.RemoveStaleTemporaries(plan);
  return true;
}

}  // namespace recpack
