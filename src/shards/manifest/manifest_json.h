// JSON conversion of the parts of a manifest, shared with the sidecars.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/shards/json/json.h"
#include "src/shards/json/json_pieces.h"
#include "src/shards/json/json_stream.h"
#include "src/shards/manifest/manifest.h"

namespace recpack {

Json ShardToJson(const ManifestShard& shard);
ManifestShard ShardFromJson(const ParsedJson& json, const std::string& path);
Json FileToJson(const ManifestFile& file);
ManifestFile FileFromJson(const ParsedJson& json, const std::string& path);

// Each writes one member: "schema", "skipped", "class_counts".
void WriteSchema(const std::vector<ManifestFeature>& schema, JsonStream& stream);
void WriteSkipped(const std::vector<SkippedItem>& skipped, JsonStream& stream);
void WriteCounts(const std::map<int64_t, uint64_t>& counts, JsonStream& stream);

// Throws Error (kCorrupt) if a key is not a number.
std::map<int64_t, uint64_t> CountsFromJson(const ParsedJson& json, const std::string& path);

// Features and skipped items, taken out of a manifest or sidecar while it is parsed: there may be
// as many as a user's data has.
class TakenLists {
 public:
  bool Take(JsonPath keys, ParsedJson& value);
  // Throws Error (kCorrupt) for a name that is there twice.
  std::vector<ManifestFeature> Schema(const std::string& path) const;
  std::vector<SkippedItem> Skipped() const;

 private:
  std::vector<std::pair<std::string, ParsedJson>> features_;
  std::vector<ParsedJson> skipped_;
};

// Throws Error (kCorrupt) if two of `parts` have the same name; `what` is what one of them is.
void RefuseTwice(const std::vector<std::pair<std::string, ParsedJson>>& parts, const char* what,
                 const std::string& path);

}  // namespace recpack
