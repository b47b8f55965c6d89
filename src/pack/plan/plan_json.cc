// Reads and writes plans as JSON (docs/format/plan.md).
#include <istream>
#include <sstream>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/pack/plan/plan.h"
#include "src/shards/json/json_pieces.h"
#include "src/shards/json/json_stream.h"

namespace recpack::pack {
namespace {

constexpr int kPlanVersion = 1;

void Write(const Plan& plan, JsonStream& stream) {
  stream.Begin('{');
  stream.Member("format", "recpack-plan");
  stream.Member("version", kPlanVersion);
  stream.Member("fingerprint", plan.fingerprint);
  stream.Member("settings", plan.settings);
  stream.Member("shuffle_seed", plan.shuffle_seed ? Json(*plan.shuffle_seed) : Json());
  stream.BeginMember("splits", '[');
  for (size_t i = 0; i < plan.splits.size(); ++i) {
    stream.Element({{"name", plan.splits[i].name},
                    {"items", plan.splits[i].items},
                    {"source_items", plan.source_items[i]}});
  }
  stream.End();
  stream.BeginMember("shards", '[');
  for (const auto& shard : plan.shards) {
    stream.Element({{"file", shard.file},
                    {"split", shard.split},
                    {"begin", shard.begin},
                    {"end", shard.end},
                    {"bytes", shard.bytes}});
  }
  stream.End();
  stream.End();
}

PlannedShard ShardFromJson(const ParsedJson& json) {
  return {.file = json.at("file"),
          .split = json.at("split"),
          .begin = json.at("begin"),
          .end = json.at("end"),
          .bytes = json.at("bytes")};
}

void CheckShard(const PlannedShard& shard, const Plan& plan, const std::string& path) {
  if (shard.split >= plan.splits.size() || shard.begin > shard.end ||
      shard.end > plan.splits[shard.split].items || shard.file.find('/') != std::string::npos) {
    throw Error(ErrorKind::kCorrupt, format("contains an invalid shard '{}'", shard.file),
                {.path = path}, "use --overwrite to start again");
  }
}

// Taken out of the JSON while it is parsed.
struct Parts {
  PlannedShards shards;
  std::vector<ParsedJson> splits;
};

Plan FromParsed(const ParsedJson& json, Parts parts, const std::string& path) {
  if (json.at("format") != "recpack-plan" || json.at("version") != kPlanVersion) {
    throw Error(ErrorKind::kUnsupported, "is a plan of another version", {.path = path},
                "use --overwrite to start again");
  }
  Plan plan;
  plan.fingerprint = json.at("fingerprint");
  plan.settings = json.at("settings").get<std::map<std::string, std::string>>();
  if (!json.at("shuffle_seed").is_null())
    plan.shuffle_seed = json.at("shuffle_seed").get<uint64_t>();
  json.at("splits");  // must exist, although their elements have been taken
  json.at("shards");
  for (const ParsedJson& split : parts.splits) {
    plan.splits.push_back({.name = split.at("name"), .items = split.at("items")});
    plan.source_items.push_back(split.at("source_items"));
  }
  plan.shards = std::move(parts.shards);
  for (const auto& shard : plan.shards) CheckShard(shard, plan, path);
  return plan;
}

Plan Read(std::istream& text, const std::string& path) {
  Parts parts;
  const auto take = [&](JsonPath keys, ParsedJson& value) {
    if (IsAt(keys, {"shards", ""})) {
      parts.shards.push_back(ShardFromJson(value));
      return true;
    }
    if (!IsAt(keys, {"splits", ""})) return false;
    parts.splits.push_back(std::move(value));
    return true;
  };
  return ReadJsonInPieces(text, path, take, [&](const ParsedJson& json) {
    return FromParsed(json, std::move(parts), path);
  });
}

}  // namespace

std::string PlanToJson(const Plan& plan) {
  return JsonText([&](JsonStream& stream) { Write(plan, stream); });
}

Plan PlanFromJson(const std::string& text, const std::string& path) {
  std::istringstream stream(text);
  return Read(stream, path);
}

void WritePlan(FileSystem& files, const std::string& path, const Plan& plan, bool durable) {
  WriteJsonFile(
      files, path, [&](JsonStream& stream) { Write(plan, stream); }, durable);
}

Plan ReadPlan(FileSystem& files, const std::string& path) {
  FileStreamBuf buffer(files.OpenForReading(path));
  std::istream text(&buffer);
  return Read(text, path);
}

}  // namespace recpack::pack
