#include "recpack/dataset/manifest.h"

#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/dataset/manifest_json.h"

namespace recpack {
namespace {

constexpr int kManifestVersion = 1;

Json SplitToJson(const ManifestSplit& split) {
  Json json = {{"records", split.records()}, {"bytes", split.bytes()}};
  if (!split.index.empty()) json["index"] = split.index;
  if (!split.class_counts.empty()) json["class_counts"] = CountsToJson(split.class_counts);
  json["shards"] = Json::array();
  for (const auto& shard : split.shards) json["shards"].push_back(ShardToJson(shard));
  return json;
}

ManifestSplit SplitFromJson(const std::string& name, const Json& json, const std::string& path) {
  ManifestSplit split{
      .name = name, .index = json.value("index", ""), .shards = {}, .class_counts = {}};
  if (split.index.find('/') != std::string::npos) {
    throw Error(ErrorKind::kCorrupt, "names an index that is not beside it", {.path = path});
  }
  if (json.contains("class_counts"))
    split.class_counts = CountsFromJson(json["class_counts"], path);
  for (const Json& shard : json.at("shards")) split.shards.push_back(ShardFromJson(shard, path));
  return split;
}

Manifest FromParsed(const Json& json, const std::string& path) {
  if (json.at("format") != "recpack-dataset") {
    throw Error(ErrorKind::kCorrupt, "is not a recpack manifest", {.path = path});
  }
  if (json.at("version").get<int>() > kManifestVersion) {
    throw Error(ErrorKind::kUnsupported,
                format("has format version {}, this recpack knows {}", json["version"].get<int>(),
                       kManifestVersion),
                {.path = path}, "install a newer recpack");
  }
  Manifest manifest;
  manifest.source_kind = json.at("source").at("kind");
  manifest.created_by = json.value("created_by", "");
  manifest.settings = json.value("settings", std::map<std::string, std::string>());
  for (const auto& [name, split] : json.at("splits").items()) {
    manifest.splits.push_back(SplitFromJson(name, split, path));
  }
  for (const auto& [name, feature] : json.at("schema").items()) {
    manifest.schema.push_back(FeatureFromJson(name, feature));
  }
  manifest.class_names = json.value("class_names", std::vector<std::string>());
  for (const Json& item : json.value("skipped", Json::array())) {
    manifest.skipped.push_back(SkippedFromJson(item));
  }
  return manifest;
}

}  // namespace

uint64_t ManifestSplit::records() const {
  uint64_t sum = 0;
  for (const auto& shard : shards) sum += shard.records;
  return sum;
}

uint64_t ManifestSplit::bytes() const {
  uint64_t sum = 0;
  for (const auto& shard : shards) sum += shard.bytes;
  return sum;
}

uint64_t Manifest::records() const {
  uint64_t sum = 0;
  for (const auto& split : splits) sum += split.records();
  return sum;
}

uint64_t Manifest::bytes() const {
  uint64_t sum = 0;
  for (const auto& split : splits) sum += split.bytes();
  return sum;
}

const ManifestSplit* Manifest::FindSplit(const std::string& name) const {
  for (const auto& split : splits) {
    if (split.name == name) return &split;
  }
  return nullptr;
}

std::string ManifestToJson(const Manifest& manifest) {
  Json json = {{"format", "recpack-dataset"}, {"version", kManifestVersion}};
  json["created_by"] = manifest.created_by;
  json["source"] = {{"kind", manifest.source_kind}};
  json["settings"] = manifest.settings;
  json["records"] = manifest.records();
  json["bytes"] = manifest.bytes();
  json["label_base"] = 0;  // labels count from 0, whatever the source did
  json["splits"] = Json::object();
  for (const auto& split : manifest.splits) json["splits"][split.name] = SplitToJson(split);
  json["schema"] = Json::object();
  for (const auto& feature : manifest.schema) json["schema"][feature.name] = FeatureToJson(feature);
  json["class_names"] = manifest.class_names;
  json["skipped"] = Json::array();
  for (const auto& item : manifest.skipped) json["skipped"].push_back(SkippedToJson(item));
  return WriteJson(json);
}

Manifest ManifestFromJson(const std::string& text, const std::string& path) {
  return ReadJson(text, path, [&](const Json& json) { return FromParsed(json, path); });
}

Manifest ReadManifest(FileSystem& files, const std::string& folder) {
  const std::string path = folder + "/" + kManifestName;
  return ManifestFromJson(std::string(AsText(ReadWholeFile(files, path))), path);
}

}  // namespace recpack
