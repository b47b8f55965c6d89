#include "src/pack/check/verify.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "recpack/base/parallel.h"
#include "recpack/example/view.h"
#include "recpack/image/decode.h"
#include "recpack/image/header.h"
#include "recpack/record/index.h"
#include "recpack/record/reader.h"
#include "src/base/format.h"
#include "src/pack/item/feature_names.h"
#include "src/pack/item/image_fields.h"
#include "src/pack/plan/unfinished.h"
#include "src/shards/index/index_check.h"
#include "src/shards/index/indexed_shards.h"
#include "src/shards/manifest/side_file.h"

namespace recpack::pack {
namespace {

std::string_view FileName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

struct ShardTask {
  std::string path;
  std::optional<ManifestShard> expected;
  const IndexedShards* indexed = nullptr;  // from the index of its split, if any
  uint64_t records = 0;
  uint64_t bytes = 0;
  std::vector<Finding> findings;
  std::optional<IndexCheck::Difference> of_index = {};

  void Add(std::string reason, std::optional<uint64_t> offset = {},
           std::optional<uint64_t> ordinal = {}) {
    findings.push_back({path, offset, ordinal, std::move(reason)});
  }
};

bool IsImage(ByteView value) {
  const std::string_view text = AsText(value.first(std::min<size_t>(value.size(), 8)));
  return text.starts_with("\xff\xd8\xff") || text.starts_with("\x89PNG\r\n\x1a\n");
}

// Tells whether image/encoded should hold an image, judging by image/format if present.
bool SaysImage(const ExampleView& view) {
  const FeatureView* format = view.Find(kImageFormat);
  if (format == nullptr || format->kind() != FeatureKind::kBytes || format->size() != 1)
    return true;
  return IsImageFormat(AsText(format->bytes_values()[0]));
}

void DecodeImages(const ExampleView& view) {
  for (const auto& feature : view) {
    if (feature.kind() != FeatureKind::kBytes) continue;
    const bool must_be = feature.name() == kImageEncoded && SaysImage(view);
    for (const ByteView value : feature.bytes_values()) {
      const bool unknown = ReadImageHeader(value).format == ImageFormat::kUnknown;
      if (IsImage(value) || (must_be && unknown)) DecodeImage(value, {});
    }
  }
}

void CheckRecord(const Record& record, const VerifyOptions& options, ExampleView& view,
                 ShardTask& task) {
  try {
    view.Parse(record.payload);
    if (options.decode) DecodeImages(view);
  } catch (const Error& error) {
    task.Add(error.reason(), record.offset, record.ordinal);
  }
}

void ReadRecords(const VerifyOptions& options, ShardTask& task) {
  RecordReader reader(PosixFiles().OpenForReading(task.path),
                      {.on_damage = ReaderOptions::OnDamage::kResynchronise});
  ExampleView view;
  IndexCheck index(task.indexed, task.path, task.bytes);
  for (Record record; reader.Next(record);) {
    ++task.records;
    if (!reader.damages().empty()) index.Stop();
    index.See(record);
    CheckRecord(record, options, view, task);
  }
  if (reader.damages().empty()) index.Finish(task.records);
  task.of_index = index.difference();
  for (const Damage& damage : reader.damages()) {
    task.Add(damage.lost ? format("{} ({} records lost)", damage.reason, *damage.lost)
                         : format("{} (unknown number of records lost)", damage.reason),
             damage.offset, damage.ordinal);
  }
}

void CheckDigest(ShardTask& task) {
  const auto file = PosixFiles().OpenForReading(task.path);
  ByteBuffer buffer(size_t{1} << 20);
  Sha256 digest;
  for (uint64_t offset = 0;;) {
    const size_t got = file->ReadAt(offset, buffer);
    if (got == 0) break;
    digest.Update(ByteView(buffer).first(got));
    offset += got;
  }
  if (digest.Finish() != *task.expected->sha256) {
    task.Add("the SHA-256 of the file differs from the manifest");
  }
}

void CheckShard(const VerifyOptions& options, ShardTask& task) {
  try {
    task.bytes = PosixFiles().OpenForReading(task.path)->Size();
    ReadRecords(options, task);
    if (!task.expected) return;
    if (task.bytes != task.expected->bytes) {
      task.Add(format("is {} bytes long, the manifest says {}", task.bytes, task.expected->bytes));
    }
    if (task.records != task.expected->records) {
      task.Add(format("holds {} whole records, the manifest says {}", task.records,
                      task.expected->records));
    }
    if (task.expected->sha256) CheckDigest(task);
  } catch (const Error& error) {
    task.Add(error.reason(), error.place().offset, error.place().ordinal);
  }
}

// The index of a split, or the reason why it cannot be read.
struct OpenedIndex {
  std::optional<IndexedShards> shards = {};
  std::string failure = {};
};

std::vector<OpenedIndex> OpenIndexes(const Layout& layout) {
  std::vector<OpenedIndex> indexes(layout.splits.size());
  for (size_t i = 0; i < indexes.size(); ++i) {
    const std::string& path = layout.splits[i].index;
    if (path.empty() || !PosixFiles().Exists(path)) continue;
    try {
      indexes[i].shards.emplace(Index::Open(path));
    } catch (const Error& error) {
      indexes[i].failure = error.reason();
    }
  }
  return indexes;
}

bool ListsAny(const IndexedShards& shards, const LayoutSplit& split) {
  return std::ranges::any_of(split.shards, [&](const std::string& path) {
    return shards.Find(FileName(path)).has_value();
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
      if (FileName(path) != index.shard_name(i)) {
        add(format("lists {} instead of {}", index.shard_name(i), path));
      } else if (PosixFiles().Exists(path) &&
                 PosixFiles().OpenForReading(path)->Size() != index.shard_bytes(i)) {
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

ShardTask MakeTask(const Layout& layout, const LayoutSplit& split, size_t shard) {
  ShardTask task{.path = split.shards[shard], .expected = {}, .findings = {}};
  const ManifestSplit* expected =
      layout.manifest ? layout.manifest->FindSplit(split.name) : nullptr;
  if (expected != nullptr) task.expected = expected->shards[shard];
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
  const auto indexes = OpenIndexes(layout);
  ParallelFor(shards, options.threads, [&](size_t, size_t i) {
    const auto split = static_cast<size_t>(std::ranges::upper_bound(first, i) - first.begin()) - 1;
    ShardTask task = MakeTask(layout, layout.splits[split], i - first[split]);
    if (indexes[split].shards) task.indexed = &*indexes[split].shards;
    CheckShard(options, task);
    findings.Add(i, std::move(task), layout.splits[split].index);
  });
  findings.Finish();
  for (size_t i = 0; i < indexes.size(); ++i) {
    CheckIndex(layout.splits[i], indexes[i], layout.manifest.has_value(), result.findings);
  }
  CheckSideFiles(layout, result.findings);
  CheckFinished(layout, result.findings);
  return result;
}

}  // namespace recpack::pack
