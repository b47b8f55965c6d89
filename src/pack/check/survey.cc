#include "src/pack/check/survey.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/base/parallel.h"
#include "recpack/example/schema.h"
#include "recpack/example/view.h"
#include "recpack/record/reader.h"
#include "src/pack/item/with_path.h"
#include "src/remote/store/data_files.h"
#include "src/shards/files/progress_meter.h"
#include "src/shards/index/fitting_index.h"
#include "src/shards/index/indexed_shards.h"
#include "src/shards/layout/split_folders.h"
#include "src/shards/manifest/manifest_schema.h"
#include "src/shards/manifest/sidecar.h"

namespace recpack::pack {
namespace {

constexpr uint64_t kSample = 100;    // records per shard from which the schema is inferred
constexpr uint64_t kStep = 1 << 20;  // bytes between two calls of the progress function

std::optional<int64_t> FindLabel(const ExampleView& view) {
  for (const char* name : {"image/class/label", "label"}) {
    const FeatureView* feature = view.Find(name);
    if (feature != nullptr && feature->int64_values().size() == 1)
      return feature->int64_values()[0];
  }
  return {};
}

// Collects the schema and classes of a shard's records. Records that are not Examples are counted,
// and then there is no schema.
class RecordsSeen {
 public:
  explicit RecordsSeen(const SurveyOptions& options) : options_(options) {}

  void Add(ByteView payload) {
    try {
      view_.Parse(payload);
    } catch (const Error&) {
      given_up_ = true;
      return;
    }
    if (options_.map) options_.map(view_);
    if (const auto label = FindLabel(view_)) ++class_counts_[*label];
    if (schema_.records() < kSample) schema_.Add(view_);
  }

  void Finish(Sidecar& sidecar) {
    sidecar.class_counts = std::move(class_counts_);
    if (!given_up_) sidecar.schema = ToManifest(schema_.Finish());
  }

 private:
  const SurveyOptions& options_;
  ExampleView view_;
  SchemaBuilder schema_;
  std::map<int64_t, uint64_t> class_counts_;
  bool given_up_ = false;
};

// Looks shards of a split up in the index of the split, or in those beside the shards.
class SplitIndexes {
 public:
  explicit SplitIndexes(const LayoutSplit& split)
      : split_(split), fitting_(FittingIndex(split)), known_(split.name) {}

  // Thread-safe. Returns nullopt if no index has the shard, or if the manifest contradicts it.
  std::optional<ShardSummary> Find(size_t shard) {
    if (fitting_) return fitting_->shard(shard);
    auto found = known_.FindSummary(split_.shards[shard]);
    if (!found) return {};
    const ListedShard indexed{.records = found->records, .bytes = found->file_bytes};
    return split_.ListedAt(shard).value_or(indexed) == indexed ? found : std::nullopt;
  }

 private:
  const LayoutSplit& split_;
  std::optional<Index> fitting_;
  KnownShards known_;
};

// Returns whether the layout's manifest says all.
bool ManifestIsEnough(const Layout& layout, const SurveyOptions& options) {
  return layout.manifest && !options.map;
}

ManifestSplit& FindOrAdd(const std::string& name, Manifest& manifest) {
  const auto found = std::ranges::find(manifest.splits, name, &ManifestSplit::name);
  if (found != manifest.splits.end()) return *found;
  manifest.splits.push_back({.name = name});
  return manifest.splits.back();
}

// Returns the splits that are surveyed by their shards, joined over the layouts.
std::vector<LayoutSplit> SplitsToRead(const std::vector<Layout>& layouts,
                                      const SurveyOptions& options) {
  std::vector<Layout> read;
  for (const Layout& layout : layouts) {
    if (!ManifestIsEnough(layout, options)) read.push_back(layout);
  }
  if (read.empty()) return {};
  return JoinLayouts(std::move(read)).splits;
}

// Returns the bytes of the shards that are read as a whole.
uint64_t BytesToRead(const std::vector<LayoutSplit>& splits, const SurveyOptions& options) {
  uint64_t bytes = 0;
  for (const LayoutSplit& split : splits) {
    SplitIndexes indexes(split);
    for (size_t i = 0; i < split.shards.size(); ++i) {
      if (!options.classes && indexes.Find(i)) continue;
      bytes += remote::FileBytes(split.shards[i]).value_or(0);
    }
  }
  return bytes;
}

class Surveyor {
 public:
  Surveyor(const std::vector<Layout>& layouts, const SurveyOptions& options)
      : options_(options),
        splits_(SplitsToRead(layouts, options)),
        meter_(options.progress, options.progress ? BytesToRead(splits_, options) : 0) {}

  Survey Run(const std::vector<Layout>& layouts) {
    for (const Layout& layout : layouts) {
      if (layout.manifest) AddFacts(*layout.manifest);
      if (ManifestIsEnough(layout, options_)) AddSplits(*layout.manifest);
    }
    for (const LayoutSplit& split : splits_) AddSplit(split);
    return std::move(survey_);
  }

 private:
  // What the records do not say.
  void AddFacts(const Manifest& from) {
    Manifest& into = survey_.manifest;
    if (into.class_names.empty()) into.class_names = from.class_names;
    std::ranges::copy(from.files, std::back_inserter(into.files));
    std::ranges::copy(from.skipped, std::back_inserter(into.skipped));
  }

  void AddSplits(const Manifest& from) {
    Manifest& into = survey_.manifest;
    for (const ManifestSplit& split : from.splits) {
      ManifestSplit& found = FindOrAdd(split.name, into);
      for (const ManifestShard& shard : split.shards) found.shards.push_back(shard);
      for (const auto& [label, count] : split.class_counts) found.class_counts[label] += count;
    }
    if (from.records() > 0) MergeSchema(from.schema, into.schema);
  }

  void AddSplit(const LayoutSplit& split) {
    SplitIndexes indexes(split);
    std::vector<Sidecar> shards(split.shards.size());
    std::atomic<bool> all_read = true;
    ParallelFor(shards.size(), options_.threads, [&](size_t, size_t i) {
      const std::string path = split.shards[i];
      const auto indexed = options_.classes ? std::nullopt : indexes.Find(i);
      if (indexed) all_read = false;
      WithPath(path, [&] { shards[i] = indexed ? LookInto(path, *indexed) : Read(path); });
    });
    Manifest& manifest = survey_.manifest;
    ManifestSplit& found = FindOrAdd(split.name, manifest);
    // If only the first records of some shards were read, counts would be those of a part.
    const bool partly = !all_read && std::ranges::any_of(shards, [](const Sidecar& shard) {
      return !shard.class_counts.empty();
    });
    if (partly) {
      survey_.classes_counted = false;
      found.class_counts.clear();
    }
    for (auto& shard : shards) {
      if (partly) shard.class_counts.clear();
      for (const auto& [label, count] : shard.class_counts) found.class_counts[label] += count;
      if (shard.shard.records > 0) MergeSchema(shard.schema, manifest.schema);
      found.shards.push_back(shard.shard);
    }
  }

  Sidecar LookInto(const std::string& path, const ShardSummary& indexed) const {
    Sidecar sidecar;
    sidecar.shard = {.file = indexed.name,
                     .records = indexed.records,
                     .bytes = indexed.file_bytes,
                     .compression = indexed.compression};
    auto file = remote::DataFiles().OpenForReading(path);
    RefuseOtherSize(path, file->Size(), indexed.file_bytes);
    RecordReader reader(std::move(file), {});
    RecordsSeen seen(options_);
    Record record;
    for (uint64_t i = 0; i < kSample && reader.Next(record); ++i) seen.Add(record.payload);
    seen.Finish(sidecar);
    return sidecar;
  }

  Sidecar Read(const std::string& path) {
    auto file = remote::DataFiles().OpenForReading(path);
    Sidecar sidecar;
    sidecar.shard = {.file = ShardName(path), .bytes = file->Size()};
    RecordReader reader(std::move(file), {});
    sidecar.shard.compression = reader.compression();
    RecordsSeen seen(options_);
    uint64_t told = 0;  // bytes of the file reported so far
    for (Record record; reader.Next(record); ++sidecar.shard.records) {
      seen.Add(record.payload);
      // Offsets in a compressed shard are not file offsets.
      if (reader.compression() == Compression::kNone && record.offset >= told + kStep) {
        meter_.Add(record.offset - told);
        told = record.offset;
      }
    }
    meter_.Add(sidecar.shard.bytes - told);
    seen.Finish(sidecar);
    return sidecar;
  }

  const SurveyOptions& options_;
  const std::vector<LayoutSplit> splits_;
  ProgressMeter meter_;
  Survey survey_;
};

}  // namespace

uint64_t BytesToSurvey(const std::vector<Layout>& layouts, const SurveyOptions& options) {
  return BytesToRead(SplitsToRead(layouts, options), options);
}

Survey SurveyDataset(const std::vector<Layout>& layouts, const SurveyOptions& options) {
  if (layouts.size() == 1 && ManifestIsEnough(layouts.front(), options)) {
    return {.manifest = *layouts.front().manifest};
  }
  return Surveyor(layouts, options).Run(layouts);
}

}  // namespace recpack::pack
