#include "src/pack/check/verify.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/parallel.h"
#include "recpack/record/index.h"
#include "src/base/format.h"
#include "src/pack/check/picture_features.h"
#include "src/pack/check/verify_shard.h"
#include "src/pack/plan/unfinished.h"
#include "src/remote/store/data_files.h"
#include "src/remote/store/local_copy.h"
#include "src/remote/url/url.h"
#include "src/shards/index/indexed_shards.h"
#include "src/shards/layout/split_folders.h"
#include "src/shards/manifest/side_file.h"

namespace recpack::pack {
namespace {

// The index of a split, or the reason why it cannot be read.
struct OpenedIndex {
  std::optional<IndexedShards> shards = {};
  std::string failure = {};
};

std::vector<OpenedIndex> OpenIndexes(const Layout& layout) {
  std::vector<OpenedIndex> indexes(layout.splits.size());
  for (size_t i = 0; i < indexes.size(); ++i) {
    const std::string& path = layout.splits[i].index;
    if (path.empty()) continue;
    try {
      if (const auto copy = remote::FindOptionalCopy(path)) {
        indexes[i].shards.emplace(Index::Open(*copy));
      }
    } catch (const Error& error) {
      indexes[i].failure = error.reason();
    }
  }
  return indexes;
}

bool ListsAny(const IndexedShards& shards, const LayoutSplit& split) {
  return std::ranges::any_of(split.shards, [&](const std::string& path) {
    return shards.Find(ShardName(path)).has_value();
  });
}

// Checks that the index lists the split's shards. If no manifest says that the index belongs to
// them, one that lists other shards is ignored.
void CheckIndex(const LayoutSplit& split, const OpenedIndex& opened, bool is_theirs,
                std::vector<Finding>& findings) {
  const auto add = [&](std::string reason) {
    findings.push_back({split.index, {}, {}, std::move(reason)});
  };
  if (!opened.failure.empty()) return add(opened.failure);
  if (!opened.shards || (!is_theirs && !ListsAny(*opened.shards, split))) return;
  try {
    const Index& index = opened.shards->index();
    if (index.shard_count() != split.shards.size()) {
      return add(
          format("lists {} shards, the split has {}", index.shard_count(), split.shards.size()));
    }
    for (size_t i = 0; i < index.shard_count(); ++i) {
      const std::string path = split.shards[i];
      if (ShardName(path) != index.shard_name(i)) {
        add(format("lists {} instead of {}", index.shard_name(i), path));
      } else if (remote::DataFiles().Exists(path) &&
                 remote::DataFiles().OpenForReading(path)->Size() != index.shard_bytes(i)) {
        add(format("is stale: {} has another size; run `recpack index`", index.shard_name(i)));
      }
    }
  } catch (const Error& error) {
    add(error.reason());
  }
}

void CheckSideFiles(const Layout& layout, std::vector<Finding>& findings) {
  if (!layout.manifest) return;
  for (const ManifestFile& file : layout.manifest->files) {
    try {
      ReadSideFile(layout.folder, file);
    } catch (const Error& error) {
      findings.push_back({layout.folder + "/" + file.file, {}, {}, error.reason()});
    }
  }
}

// Intact shards are not the whole data set if the pack was not finished.
void CheckFinished(const Layout& layout, std::vector<Finding>& findings) {
  try {
    if (const auto unfinished = FindUnfinished(layout)) {
      findings.push_back({unfinished->plan, {}, {}, unfinished->Reason()});
    } else if (const auto missing = FindMissingShards(layout)) {
      findings.push_back({layout.folder, {}, {}, missing->Reason()});
    }
  } catch (const Error& error) {
    findings.push_back({error.place().path, {}, {}, error.reason()});
  }
}

using ManifestSplits = std::map<std::string_view, const ManifestSplit*>;

ShardTask MakeTask(const ManifestSplits& expected, const LayoutSplit& split, size_t shard) {
  ShardTask task{.path = split.shards[shard], .expected = {}, .findings = {}};
  const auto listed = expected.find(split.name);
  if (listed != expected.end()) task.expected = listed->second->shards[shard];
  return task;
}

// Collects the findings of the tasks in the order of the shards. Thread-safe.
class Findings {
 public:
  Findings(const VerifyOptions& options, VerifyResult& result)
      : options_(options), result_(result) {}

  // `index`: path of the index that the task was checked against.
  void Add(size_t shard, ShardTask&& task, const std::string& index) {
    const std::lock_guard lock(mutex_);
    result_.records += task.records;
    result_.bytes += task.bytes;
    if (!task.findings.empty()) found_[shard] = std::move(task.findings);
    if (task.of_index) {
      of_indexes_[shard] = {index, {}, task.of_index->ordinal, std::move(task.of_index->reason)};
    }
    if (options_.progress) options_.progress(result_.bytes);
  }

  void Finish() {
    for (auto& [shard, findings] : found_) {
      std::ranges::move(findings, std::back_inserter(result_.findings));
    }
    for (auto& [shard, finding] : of_indexes_) result_.findings.push_back(std::move(finding));
  }

 private:
  const VerifyOptions& options_;
  VerifyResult& result_;
  std::mutex mutex_;
  std::map<size_t, std::vector<Finding>> found_;
  std::map<size_t, Finding> of_indexes_;
};

}  // namespace

VerifyResult Verify(const Layout& layout, const VerifyOptions& options) {
  VerifyResult result;
  Findings findings(options, result);
  size_t shards = 0;
  std::vector<size_t> first;  // number of each split's first shard
  for (const auto& split : layout.splits) {
    first.push_back(shards);
    shards += split.shards.size();
  }
  const auto expected = layout.manifest ? layout.manifest->SplitsByName() : ManifestSplits();
  const auto indexes = OpenIndexes(layout);
  std::vector<PictureFeatures> pictures;  // of each split
  for (const LayoutSplit& split : layout.splits) {
    if (options.decode) pictures.push_back(LearnPictures(split.shards));
  }
  ParallelFor(shards, options.threads, [&](size_t, size_t i) {
    const auto split = static_cast<size_t>(std::ranges::upper_bound(first, i) - first.begin()) - 1;
    ShardTask task = MakeTask(expected, layout.splits[split], i - first[split]);
    if (indexes[split].shards) task.indexed = &*indexes[split].shards;
    if (options.decode) task.pictures = &pictures[split];
    CheckShard(task);
    findings.Add(i, std::move(task), layout.splits[split].index);
  });
  findings.Finish();
  for (size_t i = 0; i < indexes.size(); ++i) {
    CheckIndex(layout.splits[i], indexes[i], layout.manifest.has_value(), result.findings);
  }
  CheckSideFiles(layout, result.findings);
  CheckFinished(layout, result.findings);
  for (Finding& finding : result.findings) finding.path = remote::WithoutSecrets(finding.path);
  return result;
}

}  // namespace recpack::pack
