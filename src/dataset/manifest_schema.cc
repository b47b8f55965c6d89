#include "src/dataset/manifest_schema.h"

#include <algorithm>

namespace recpack {
namespace {

void MergeFeature(const ManifestFeature& feature, ManifestFeature& into) {
  if (into.kind != feature.kind) into.kind = "mixed";
  if (into.length != feature.length) into.length = -1;
  into.min_bytes = std::min(into.min_bytes, feature.min_bytes);
  into.max_bytes = std::max(into.max_bytes, feature.max_bytes);
}

const ManifestFeature* Find(const std::vector<ManifestFeature>& features, const std::string& name) {
  const auto found = std::ranges::find(features, name, &ManifestFeature::name);
  return found == features.end() ? nullptr : &*found;
}

}  // namespace

std::vector<ManifestFeature> ToManifest(const std::vector<FeatureSpec>& specs) {
  std::vector<ManifestFeature> features;
  for (const FeatureSpec& spec : specs) {
    ManifestFeature feature{.name = spec.name,
                            .kind = spec.mixed ? "mixed" : FeatureKindName(spec.kind)};
    if (spec.fixed_length()) feature.length = static_cast<int64_t>(spec.max_length);
    if (spec.kind == FeatureKind::kBytes && spec.max_length > 0) {
      feature.min_bytes = static_cast<int64_t>(spec.min_bytes);
      feature.max_bytes = static_cast<int64_t>(spec.max_bytes);
    }
    features.push_back(std::move(feature));
  }
  return features;
}

void MergeSchema(const std::vector<ManifestFeature>& features, std::vector<ManifestFeature>& into) {
  const bool first = into.empty();
  for (auto& there : into) {
    if (Find(features, there.name) == nullptr) there.length = -1;  // not in every record
  }
  for (const auto& feature : features) {
    const auto there = std::ranges::find(into, feature.name, &ManifestFeature::name);
    if (there != into.end()) {
      MergeFeature(feature, *there);
    } else {
      into.push_back(feature);
      if (!first) into.back().length = -1;
    }
  }
  std::ranges::sort(into, {}, &ManifestFeature::name);
}

}  // namespace recpack
