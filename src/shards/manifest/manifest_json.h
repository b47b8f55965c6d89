// JSON conversion of the parts of a manifest, shared with the sidecars.
#pragma once

#include <string>

#include "src/shards/json/json.h"
#include "src/shards/manifest/manifest.h"

namespace recpack {

Json ShardToJson(const ManifestShard& shard);
ManifestShard ShardFromJson(const Json& json, const std::string& path);
Json FileToJson(const ManifestFile& file);
ManifestFile FileFromJson(const Json& json, const std::string& path);
Json FeatureToJson(const ManifestFeature& feature);
ManifestFeature FeatureFromJson(const std::string& name, const Json& json);
Json SkippedToJson(const SkippedItem& item);
SkippedItem SkippedFromJson(const Json& json);
Json CountsToJson(const std::map<int64_t, uint64_t>& counts);
// Throws Error (kCorrupt) if a key is not a number.
std::map<int64_t, uint64_t> CountsFromJson(const Json& json, const std::string& path);

}  // namespace recpack
