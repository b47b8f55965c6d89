#include "src/shards/manifest/manifest.h"

#include <algorithm>
#include <istream>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/shards/json/json_pieces.h"
#include "src/shards/json/json_stream.h"
#include "src/shards/manifest/manifest_json.h"

namespace recpack {
namespace {

constexpr char kFormat[] = "recpack-dataset";
constexpr uint64_t kManifestVersion = 1;

void WriteSplit(const ManifestSplit& split, JsonStream& stream) {
  stream.BeginMember(split.name, '{');
  stream.Member("records", split.records());
  stream.Member("bytes", split.bytes());
  if (!split.index.empty()) stream.Member("index", split.index);
  if (!split.class_counts.empty()) WriteCounts(split.class_counts, stream);
  stream.BeginMember("shards", '[');
  for (const auto& shard : split.shards) stream.Element(ShardToJson(shard));
  stream.End();
  stream.End();
}

void Write(const Manifest& manifest, JsonStream& stream) {
  stream.Begin('{');
  stream.Member("format", kFormat);
  stream.Member("version", kManifestVersion);
  stream.Member("created_by", manifest.created_by);
  stream.Member("source", {{"kind", manifest.source_kind}});
  stream.Member("settings", manifest.settings);
  stream.Member("records", manifest.records());
  stream.Member("bytes", manifest.bytes());
  stream.Member("label_base", 0);  // labels count from 0, whatever the source did
  stream.BeginMember("splits", '{');
  for (const auto& split : manifest.splits) WriteSplit(split, stream);
  stream.End();
  WriteSchema(manifest.schema, stream);
  stream.Member("class_names", manifest.class_names);
  if (!manifest.files.empty()) {
    stream.BeginMember("files", '[');
    for (const auto& file : manifest.files) stream.Element(FileToJson(file));
    stream.End();
  }
  WriteSkipped(manifest.skipped, stream);
  stream.End();
}

void CheckVersion(uint64_t version, const std::string& path) {
  if (version <= kManifestVersion) return;
  throw Error(ErrorKind::kUnsupported,
              format("has format version {}, this recpack supports {}", version, kManifestVersion),
              {.path = path}, "install a newer recpack");
}

// Compares totals with the sums over the parts: a difference means that data was lost or changed.
// `whole` and `parts`: "the split train", "its shards".
void CheckSum(const ParsedJson& json, const char* what, uint64_t sum, const std::string& whole,
              const char* parts, const std::string& path) {
  if (!json.contains(what) || json.at(what).get<uint64_t>() == sum) return;
  throw Error(ErrorKind::kCorrupt,
              format("says that {} has {} {}, but {} have {}", whole, json.at(what).get<uint64_t>(),
                     what, parts, sum),
              {.path = path},
              "copy the manifest again; or name the shards themselves, by a pattern in quotes");
}

// Taken out of the JSON while it is parsed, in their order.
struct Parts {
  std::map<std::string, ShardList> shards;  // by split
  std::vector<std::pair<std::string, ParsedJson>> splits;
  std::vector<ParsedJson> files;
  TakenLists lists;
};

ManifestSplit SplitFromJson(const std::string& name, const ParsedJson& json, ShardList shards,
                            const std::string& path) {
  ManifestSplit split{.name = name,
                      .index = json.value("index", ""),
                      .shards = std::move(shards),
                      .class_counts = {}};
  if (split.index.find('/') != std::string::npos) {
    throw Error(ErrorKind::kCorrupt, "names an index outside its folder", {.path = path});
  }
  if (json.contains("class_counts"))
    split.class_counts = CountsFromJson(json["class_counts"], path);
  json.at("shards");  // must exist, although its elements have been taken
  const std::string whole = "the split " + name;
  CheckSum(json, "records", split.records(), whole, "its shards", path);
  CheckSum(json, "bytes", split.bytes(), whole, "its shards", path);
  return split;
}

Manifest FromParsed(const ParsedJson& json, Parts parts, const std::string& path) {
  if (!json.is_object() || json.value("format", ParsedJson()) != kFormat) {
    throw Error(ErrorKind::kCorrupt, "is not a recpack manifest", {.path = path});
  }
  CheckVersion(NumberIn(json, "version", path), path);
  Manifest manifest;
  manifest.source_kind = TextIn(ObjectIn(json, "source", path), "kind", path);
  manifest.created_by = json.value("created_by", "");
  manifest.settings = json.value("settings", std::map<std::string, std::string>());
  ObjectIn(json, "splits", path);  // must exist, although its members have been taken
  RefuseTwice(parts.splits, "split", path);
  for (const auto& [name, split] : parts.splits) {
    manifest.splits.push_back(SplitFromJson(name, split, std::move(parts.shards[name]), path));
  }
  CheckSum(json, "records", manifest.records(), "the data set", "its splits", path);
  CheckSum(json, "bytes", manifest.bytes(), "the data set", "its splits", path);
  if (manifest.splits.empty()) {
    throw Error(ErrorKind::kCorrupt, "lists no split", {.path = path}, "copy the manifest again");
  }
  if (!ObjectIn(json, "schema", path).empty()) {
    throw Error(ErrorKind::kCorrupt, "has a feature in its schema that is not an object",
                {.path = path});
  }
  manifest.schema = parts.lists.Schema(path);
  manifest.class_names = TextsIn(json, "class_names", path);
  for (const ParsedJson& file : parts.files) manifest.files.push_back(FileFromJson(file, path));
  manifest.skipped = parts.lists.Skipped();
  return manifest;
}

Manifest Read(std::istream& text, const std::string& path) {
  Parts parts;
  const auto take = [&](JsonPath keys, ParsedJson& value) {
    // Check the version before the shards, whose format may differ in a newer version.
    if (IsAt(keys, {"version"}) && value.is_number_unsigned()) {
      CheckVersion(value.get<uint64_t>(), path);
    }
    if (IsAt(keys, {"splits", nullptr})) {
      parts.splits.emplace_back(keys[1], std::move(value));
      return true;
    }
    if (IsAt(keys, {"splits", nullptr, "shards", ""})) {
      parts.shards[keys[1]].push_back(ShardFromJson(value, path));
      return true;
    }
    if (IsAt(keys, {"files", ""})) {
      parts.files.push_back(std::move(value));
      return true;
    }
    return parts.lists.Take(keys, value);
  };
  return ReadJsonInPieces(text, path, take, [&](const ParsedJson& json) {
    return FromParsed(json, std::move(parts), path);
  });
}

}  // namespace

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

std::map<std::string_view, const ManifestSplit*> Manifest::SplitsByName() const {
  std::map<std::string_view, const ManifestSplit*> by_name;
  for (const auto& split : splits) by_name.emplace(split.name, &split);
  return by_name;
}

const ManifestSplit* Manifest::FindSplit(const std::string& name) const {
  for (const auto& split : splits) {
    if (split.name == name) return &split;
  }
  return nullptr;
}

bool Manifest::Lists(const std::string& shard) const {
  return std::ranges::any_of(splits, [&](const ManifestSplit& split) {
    return split.shards.files().Find(shard).has_value();
  });
}

std::vector<std::string> Manifest::FileNames() const {
  std::vector<std::string> names;
  for (const ManifestSplit& split : splits) {
    if (!split.index.empty()) names.push_back(split.index);
    for (const std::string& file : split.shards.files()) {
      names.push_back(file);
      names.push_back(file + ".idx");
    }
  }
  for (const ManifestFile& file : files) names.push_back(file.file);
  return names;
}

std::string ManifestToJson(const Manifest& manifest) {
  return JsonText([&](JsonStream& stream) { Write(manifest, stream); });
}

Manifest ManifestFromJson(const std::string& text, const std::string& path) {
  std::istringstream stream(text);
  return Read(stream, path);
}

void WriteManifest(FileSystem& files, const std::string& folder, const Manifest& manifest,
                   bool durable) {
  WriteJsonFile(
      files, folder + "/" + kManifestName, [&](JsonStream& stream) { Write(manifest, stream); },
      durable);
}

Manifest ReadManifest(FileSystem& files, const std::string& folder) {
  const std::string path = folder + "/" + kManifestName;
  FileStreamBuf buffer(files.OpenForReading(path));
  std::istream text(&buffer);
  return Read(text, path);
}

}  // namespace recpack
