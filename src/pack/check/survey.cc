#include "src/pack/check/survey.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/base/parallel.h"
#include "recpack/example/schema.h"
#include "recpack/example/view.h"
#include "recpack/record/reader.h"
#include "src/remote/store/data_files.h"
#include "src/shards/files/progress_meter.h"
#include "src/shards/index/fitting_index.h"
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
  void Add(ByteView payload) {
    try {
      view_.Parse(payload);
    } catch (const Error&) {
      given_up_ = true;
      return;
    }
    if (const auto label = FindLabel(view_)) ++class_counts_[*label];
    if (schema_.records() < kSample) schema_.Add(view_);
  }

  void Finish(Sidecar& sidecar) {
    sidecar.class_counts = std::move(class_counts_);
    if (!given_up_) sidecar.schema = ToManifest(schema_.Finish());
  }

 private:
  ExampleView view_;
  SchemaBuilder schema_;
  std::map<int64_t, uint64_t> class_counts_;
  bool given_up_ = false;
};

class Surveyor {
 public:
  Surveyor(const Layout& layout, const SurveyOptions& options)
      : layout_(layout),
        options_(options),
        meter_(options.progress, BytesToSurvey(layout, options)) {}

  Survey Run() {
    for (const LayoutSplit& split : layout_.splits) AddSplit(split);
    return std::move(survey_);
  }

 private:
  void AddSplit(const LayoutSplit& split) {
    const auto index = options_.classes ? std::nullopt : FittingIndex(split);
    std::vector<Sidecar> shards(split.shards.size());
    ParallelFor(shards.size(), options_.threads, [&](size_t, size_t i) {
      shards[i] = index ? LookInto(split.shards[i], index->shard(i)) : Read(split.shards[i]);
    });
    Manifest& manifest = survey_.manifest;
    ManifestSplit found{.name = split.name};
    for (auto& shard : shards) {
      if (index) {  // only the first records were read
        survey_.classes_counted &= shard.class_counts.empty();
        shard.class_counts.clear();
      }
      for (const auto& [label, count] : shard.class_counts) found.class_counts[label] += count;
      if (shard.shard.records > 0) MergeSchema(shard.schema, manifest.schema);
      found.shards.push_back(shard.shard);
    }
    manifest.splits.push_back(std::move(found));
  }

  static Sidecar LookInto(const std::string& path, const ShardSummary& indexed) {
    Sidecar sidecar;
    sidecar.shard = {.file = indexed.name,
                     .records = indexed.records,
                     .bytes = indexed.file_bytes,
                     .compression = indexed.compression};
    auto file = remote::DataFiles().OpenForReading(path);
    RefuseOtherSize(path, file->Size(), indexed.file_bytes);
    RecordReader reader(std::move(file), {});
    RecordsSeen seen;
    Record record;
    for (uint64_t i = 0; i < kSample && reader.Next(record); ++i) seen.Add(record.payload);
    seen.Finish(sidecar);
    return sidecar;
  }

  Sidecar Read(const std::string& path) {
    auto file = remote::DataFiles().OpenForReading(path);
    Sidecar sidecar;
    sidecar.shard = {.file = path.substr(path.rfind('/') + 1), .bytes = file->Size()};
    RecordReader reader(std::move(file), {});
    sidecar.shard.compression = reader.compression();
    RecordsSeen seen;
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

  const Layout& layout_;
  const SurveyOptions& options_;
  ProgressMeter meter_;
  Survey survey_;
};

}  // namespace

uint64_t BytesToSurvey(const Layout& layout, const SurveyOptions& options) {
  uint64_t bytes = 0;
  if (layout.manifest) return bytes;
  for (const LayoutSplit& split : layout.splits) {
    if (options.classes || !FittingIndex(split)) bytes += ShardBytes(split);
  }
  return bytes;
}

Survey SurveyDataset(const Layout& layout, const SurveyOptions& options) {
  if (layout.manifest) return {.manifest = *layout.manifest};
  return Surveyor(layout, options).Run();
}

}  // namespace recpack::pack
