#include "src/shards/manifest/manifest_json.h"

#include <charconv>
#include <set>
#include <string_view>

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

Compression CompressionFromJson(const ParsedJson& shard, const std::string& path) {
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

Json FeatureToJson(const ManifestFeature& feature) {
  Json json = {{"kind", feature.kind}};
  json["length"] = feature.length >= 0 ? Json(feature.length) : Json("varies");
  if (feature.max_bytes >= 0) {
    json["min_bytes"] = feature.min_bytes;
    json["max_bytes"] = feature.max_bytes;
  }
  return json;
}

ManifestFeature FeatureFromJson(const std::string& name, const ParsedJson& json) {
  return {.name = name,
          .kind = json.at("kind"),
          .length = json.at("length").is_number() ? json.at("length").get<int64_t>() : -1,
          .min_bytes = json.value("min_bytes", int64_t{-1}),
          .max_bytes = json.value("max_bytes", int64_t{-1})};
}

Json SkippedToJson(const SkippedItem& item) {
  return {{"split", item.split}, {"item", item.item}, {"reason", item.reason}};
}

SkippedItem SkippedFromJson(const ParsedJson& json) {
  return {.split = json.at("split"), .item = json.at("item"), .reason = json.at("reason")};
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

ManifestShard ShardFromJson(const ParsedJson& json, const std::string& path) {
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

ManifestFile FileFromJson(const ParsedJson& json, const std::string& path) {
  const std::string name = TextIn(json, "file", path);
  CheckIsBeside("file", name, path);
  const auto digest = DigestFromHex(TextIn(json, "sha256", path), path);
  if (!digest) {
    throw Error(ErrorKind::kCorrupt, format("lacks the SHA-256 of {}", name), {.path = path});
  }
  return {.file = name, .bytes = NumberIn(json, "bytes", path), .sha256 = *digest};
}

void WriteCounts(const std::map<int64_t, uint64_t>& counts, JsonStream& stream) {
  stream.BeginMember("class_counts", '{');
  for (const auto& [label, count] : counts) stream.Member(std::to_string(label), count);
  stream.End();
}

std::map<int64_t, uint64_t> CountsFromJson(const ParsedJson& json, const std::string& path) {
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

void WriteSchema(const std::vector<ManifestFeature>& schema, JsonStream& stream) {
  stream.BeginMember("schema", '{');
  for (const auto& feature : schema) stream.Member(feature.name, FeatureToJson(feature));
  stream.End();
}

void WriteSkipped(const std::vector<SkippedItem>& skipped, JsonStream& stream) {
  stream.BeginMember("skipped", '[');
  for (const auto& item : skipped) stream.Element(SkippedToJson(item));
  stream.End();
}

void RefuseTwice(const std::vector<std::pair<std::string, ParsedJson>>& parts, const char* what,
                 const std::string& path) {
  std::set<std::string_view> names;
  for (const auto& [name, part] : parts) {
    if (names.insert(name).second) continue;
    throw Error(ErrorKind::kCorrupt, format("has the {} {} twice", what, name), {.path = path});
  }
}

bool TakenLists::Take(JsonPath keys, ParsedJson& value) {
  if (IsAt(keys, {"schema", nullptr}) && value.is_structured()) {
    features_.emplace_back(keys[1], std::move(value));
    return true;
  }
  if (!IsAt(keys, {"skipped", ""})) return false;
  skipped_.push_back(std::move(value));
  return true;
}

std::vector<ManifestFeature> TakenLists::Schema(const std::string& path) const {
  RefuseTwice(features_, "feature", path);
  std::vector<ManifestFeature> schema;
  for (const auto& [name, feature] : features_) schema.push_back(FeatureFromJson(name, feature));
  return schema;
}

std::vector<SkippedItem> TakenLists::Skipped() const {
  std::vector<SkippedItem> skipped;
  for (const ParsedJson& item : skipped_) skipped.push_back(SkippedFromJson(item));
  return skipped;
}

}  // namespace recpack
