#include "recpack/dataset/survey.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "recpack/base/parallel.h"
#include "recpack/example/schema.h"
#include "recpack/example/view.h"
#include "recpack/record/reader.h"
#include "src/dataset/manifest_schema.h"
#include "src/dataset/sidecar.h"

namespace recpack {
namespace {

constexpr uint64_t kSample = 100;  // records of a shard that the schema is learnt from

std::optional<int64_t> LabelOf(const ExampleView& view) {
  for (const char* name : {"image/class/label", "label"}) {
    const FeatureView* feature = view.Find(name);
    if (feature != nullptr && feature->int64_values().size() == 1)
      return feature->int64_values()[0];
  }
  return {};
}

Sidecar SurveyShard(const std::string& path) {
  auto file = PosixFiles().OpenForReading(path);
  Sidecar sidecar;
  sidecar.shard = {.file = path.substr(path.rfind('/') + 1), .bytes = file->Size()};
  RecordReader reader(std::move(file), {});
  sidecar.shard.compression = reader.compression();
  ExampleView view;
  SchemaBuilder schema;
  for (Record record; reader.Next(record); ++sidecar.shard.records) {
    view.Parse(record.payload);
    if (schema.records() < kSample) schema.Add(view);
    if (const auto label = LabelOf(view)) ++sidecar.class_counts[*label];
  }
  sidecar.schema = ToManifest(schema.Finish());
  return sidecar;
}

}  // namespace

Manifest SurveyDataset(const Layout& layout, int threads) {
  if (layout.manifest) return *layout.manifest;
  Manifest manifest;
  for (const auto& split : layout.splits) {
    std::vector<Sidecar> shards(split.shards.size());
    ParallelFor(shards.size(), threads,
                [&](size_t, size_t i) { shards[i] = SurveyShard(split.shards[i]); });
    ManifestSplit found{.name = split.name};
    for (auto& shard : shards) {
      for (const auto& [label, count] : shard.class_counts) found.class_counts[label] += count;
      if (shard.shard.records > 0) MergeSchema(shard.schema, manifest.schema);
      found.shards.push_back(std::move(shard.shard));
    }
    manifest.splits.push_back(std::move(found));
  }
  return manifest;
}

}  // namespace recpack
