#include "src/pack/parts/joined_parts.h"

#include "recpack/base/error.h"
#include "recpack/base/parallel.h"
#include "recpack/record/index.h"
#include "src/base/format.h"
#include "src/shards/index/ordered_index.h"
#include "src/shards/manifest/manifest_schema.h"
#include "src/shards/manifest/shard_name.h"

namespace recpack::pack {
namespace {

const ManifestSplit& OnlySplit(const Manifest& part) { return part.splits.front(); }

}  // namespace

std::vector<Manifest> ReadManifests(FileSystem& files, const std::vector<std::string>& paths) {
  std::vector<Manifest> manifests(paths.size());
  ParallelFor(paths.size(), kPartsAtOnce,
              [&](size_t, size_t i) { manifests[i] = ReadManifest(files, paths[i]); });
  return manifests;
}

JoinedParts JoinParts(const std::string& split, const std::string& name,
                      const std::vector<std::string>& paths,
                      const std::vector<Manifest>& manifests) {
  JoinedParts joined{
      .split = {.name = split, .index = name + ".recindex", .shards = {}, .class_counts = {}},
      .from = {},
      .first = {},
      .counts = {},
      .indexes = {}};
  size_t count = 0;
  for (const Manifest& part : manifests) count += OnlySplit(part).shards.size();
  for (size_t i = 0; i < manifests.size(); ++i) {
    const ManifestSplit& part = OnlySplit(manifests[i]);
    joined.first.push_back(joined.from.size());
    joined.counts.push_back(part.shards.size());
    joined.indexes.push_back(paths[i] + "/" + part.index);
    for (ManifestShard shard : part.shards) {
      joined.from.push_back(paths[i] + "/" + shard.file);
      shard.file = ShardName(name, 0, joined.split.shards.size(), count);
      joined.split.shards.push_back(shard);
    }
    for (const auto& [label, records] : part.class_counts) {
      joined.split.class_counts[label] += records;
    }
  }
  return joined;
}

Manifest JoinedManifest(const Manifest* old, const std::vector<Manifest>& manifests,
                        const ManifestSplit& split) {
  Manifest whole = old != nullptr ? *old : manifests.front();
  if (old == nullptr) whole.splits.clear();
  whole.splits.push_back(split);
  for (const Manifest& part : manifests) MergeSchema(part.schema, whole.schema);
  return whole;
}

void WriteJoinedIndex(const JoinedParts& joined, const std::vector<std::string>& indexes,
                      const std::string& path) {
  OrderedIndex index(PosixFiles(), path);
  ParallelFor(indexes.size(), 0, [&](size_t, size_t i) {
    try {
      const Index part = Index::Open(indexes[i]);
      if (part.shard_count() != joined.counts[i]) {
        throw Error(ErrorKind::kCorrupt, "has other shards than the part's manifest",
                    {.path = joined.indexes[i]}, "write the data again");
      }
      for (size_t shard = 0; shard < part.shard_count(); ++shard) {
        ShardEntries entries = part.Entries(shard);
        entries.name = joined.split.shards.files()[joined.first[i] + shard];
        index.Add(joined.first[i] + shard, entries);
      }
    } catch (...) {
      index.GiveUp();
      throw;
    }
  });
  index.Finish(false);
}

void RefuseSplit(const Manifest& there, const std::string& split, const std::string& out) {
  if (there.FindSplit(split) == nullptr) return;
  throw Error(ErrorKind::kInvalidArgument, format("has a split '{}'", split), {.path = out},
              "name another split or folder, or overwrite the data set");
}

void RefuseOtherFiles(const std::string& file, const std::string& out) {
  throw Error(ErrorKind::kInvalidArgument, format("has other files ({})", file), {.path = out},
              "name another folder");
}

void RefuseLate(const std::string& out) {
  throw Error(ErrorKind::kNotFound, "this job has ended, and the attempt came too late",
              {.path = out}, "nothing is to be done: it does not count");
}

}  // namespace recpack::pack
