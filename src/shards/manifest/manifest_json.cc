#include "src/shards/manifest/manifest_json.h"

#include <charconv>

#include "src/base/format.h"

namespace recpack {
namespace {

std::optional<Sha256Digest> DigestFromHex(const std::string& text, const std::string& path) {
  if (text.empty()) return {};
  Sha256Digest digest;
  bool valid = text.size() == 2 * digest.size();
  for (size_t i = 0; valid && i < digest.size(); ++i) {
    const char* at = text.data() + 2 * i;
    const auto [end, code] = std::from_chars(at, at + 2, digest[i], 16);
    valid = code == std::errc() && end == at + 2;
  }
  if (valid) return digest;
  throw Error(ErrorKind::kCorrupt, format("has the invalid SHA-256 '{}'", text), {.path = path});
}

Compression CompressionFromJson(const Json& shard, const std::string& path) {
  const std::string name = shard.value("compression", "none");
  try {
    return ParseCompression(name);
  } catch (const Error&) {
    throw Error(ErrorKind::kCorrupt,
                format("shard '{}': unknown \"compression\" '{}': expected none, gzip or zlib",
                       shard.value("file", ""), name),
                {.path = path});
  }
}

void CheckIsBeside(const char* what, const std::string& name, const std::string& path) {
  if (!name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos) return;
  throw Error(ErrorKind::kCorrupt,
              format("names the {} '{}', which is not a file beside it", what, name),
              {.path = path});
}

}  // namespace

Json ShardToJson(const ManifestShard& shard) {
  Json json = {{"file", shard.file}, {"records", shard.records}, {"bytes", shard.bytes}};
  if (shard.compression != Compression::kNone) {
    json["compression"] = CompressionName(shard.compression);
  }
  if (shard.sha256) json["sha256"] = Hex(*shard.sha256);
  return json;
}

ManifestShard ShardFromJson(const Json& json, const std::string& path) {
  ManifestShard shard{.file = TextIn(json, "file", path),
                      .records = NumberIn(json, "records", path),
                      .bytes = NumberIn(json, "bytes", path),
                      .compression = CompressionFromJson(json, path),
                      .sha256 = DigestFromHex(json.value("sha256", ""), path)};
  CheckIsBeside("shard", shard.file, path);
  return shard;
}

Json FileToJson(const ManifestFile& file) {
  return {{"file", file.file}, {"bytes", file.bytes}, {"sha256", Hex(file.sha256)}};
}

ManifestFile FileFromJson(const Json& json, const std::string& path) {
  const std::string name = TextIn(json, "file", path);
  CheckIsBeside("file", name, path);
  const auto digest = DigestFromHex(TextIn(json, "sha256", path), path);
  if (!digest) {
    throw Error(ErrorKind::kCorrupt, format("lacks the SHA-256 of {}", name), {.path = path});
  }
  return {.file = name, .bytes = NumberIn(json, "bytes", path), .sha256 = *digest};
}

Json FeatureToJson(const ManifestFeature& feature) {
  Json json = {{"kind", feature.kind}};
  json["length"] = feature.length >= 0 ? Json(feature.length) : Json("varies");
  if (feature.max_bytes >= 0) {
    json["min_bytes"] = feature.min_bytes;
    json["max_bytes"] = feature.max_bytes;
  }
  return json;
}

ManifestFeature FeatureFromJson(const std::string& name, const Json& json) {
  return {.name = name,
          .kind = json.at("kind"),
          .length = json.at("length").is_number() ? json.at("length").get<int64_t>() : -1,
          .min_bytes = json.value("min_bytes", int64_t{-1}),
          .max_bytes = json.value("max_bytes", int64_t{-1})};
}

Json SkippedToJson(const SkippedItem& item) {
  return {{"split", item.split}, {"item", item.item}, {"reason", item.reason}};
}

SkippedItem SkippedFromJson(const Json& json) {
  return {.split = json.at("split"), .item = json.at("item"), .reason = json.at("reason")};
}

Json CountsToJson(const std::map<int64_t, uint64_t>& counts) {
  Json json = Json::object();
  for (const auto& [label, count] : counts) json[std::to_string(label)] = count;
  return json;
}

std::map<int64_t, uint64_t> CountsFromJson(const Json& json, const std::string& path) {
  std::map<int64_t, uint64_t> counts;
  for (const auto& [label, count] : json.items()) {
    int64_t number = 0;
    const auto [end, code] = std::from_chars(label.data(), label.data() + label.size(), number);
    if (code != std::errc() || end != label.data() + label.size()) {
      throw Error(ErrorKind::kCorrupt, format("counts a class '{}', which is not a number", label),
                  {.path = path});
    }
    counts[number] = count;
  }
  return counts;
}

}  // namespace recpack
