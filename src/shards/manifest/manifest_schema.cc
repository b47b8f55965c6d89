#include "src/shards/manifest/manifest_schema.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace recpack {
namespace {

void MergeFeature(const ManifestFeature& feature, ManifestFeature& into) {
  if (into.kind != feature.kind) into.kind = "mixed";
  if (into.length != feature.length) into.length = -1;
  into.min_bytes = std::min(into.min_bytes, feature.min_bytes);
  into.max_bytes = std::max(into.max_bytes, feature.max_bytes);
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
  std::unordered_map<std::string_view, const ManifestFeature*> by_name;
  for (const auto& feature : features) by_name.emplace(feature.name, &feature);
  for (auto& there : into) {
    const auto found = by_name.find(there.name);
    if (found == by_name.end()) {
      there.length = -1;  // not in every record
    } else {
      MergeFeature(*found->second, there);
      by_name.erase(found);
    }
  }
  for (const auto& feature : features) {
    if (!by_name.contains(feature.name)) continue;
    into.push_back(feature);
    if (!first) into.back().length = -1;
  }
  std::ranges::sort(into, {}, &ManifestFeature::name);
}

}  // namespace recpack
