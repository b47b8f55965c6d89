#include "src/shards/manifest/sidecar.h"

#include <filesystem>

#include "recpack/base/error.h"
#include "src/shards/manifest/manifest_json.h"

namespace recpack {

std::string SidecarPath(const std::string& out, const std::string& file) {
  return out + "/" + kStateFolder + "/" + file + ".json";
}

std::string SidecarToJson(const Sidecar& sidecar) {
  Json json = {{"shard", ShardToJson(sidecar.shard)}};
  json["class_counts"] = CountsToJson(sidecar.class_counts);
  json["schema"] = Json::object();
  for (const auto& feature : sidecar.schema) json["schema"][feature.name] = FeatureToJson(feature);
  json["skipped"] = Json::array();
  for (const auto& item : sidecar.skipped) json["skipped"].push_back(SkippedToJson(item));
  return WriteJson(json);
}

Sidecar ReadSidecar(FileSystem& files, const std::string& path) {
  const std::string text(AsText(ReadWholeFile(files, path)));
  return ReadJson(text, path, [&](const Json& json) {
    Sidecar sidecar;
    sidecar.shard = ShardFromJson(json.at("shard"), path);
    sidecar.class_counts = CountsFromJson(json.at("class_counts"), path);
    for (const auto& [name, feature] : json.at("schema").items()) {
      sidecar.schema.push_back(FeatureFromJson(name, feature));
    }
    for (const Json& item : json.at("skipped")) sidecar.skipped.push_back(SkippedFromJson(item));
    return sidecar;
  });
}

std::optional<Sidecar> FindSidecar(FileSystem& files, const std::string& out,
                                   const std::string& file) {
  const std::string sidecar_path = SidecarPath(out, file);
  std::error_code missing;
  const uint64_t bytes = std::filesystem::file_size(out + "/" + file, missing);
  if (missing || !files.Exists(sidecar_path)) return {};
  try {
    Sidecar sidecar = ReadSidecar(files, sidecar_path);
    if (sidecar.shard.bytes == bytes) return sidecar;
  } catch (const Error& error) {  // truncated by a power failure when sync was off
    if (error.kind() != ErrorKind::kCorrupt) throw;
  }
  return {};
}

}  // namespace recpack
