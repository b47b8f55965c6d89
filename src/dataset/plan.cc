#include "recpack/dataset/plan.h"

#include <algorithm>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/dataset/json.h"
#include "src/dataset/planned_bytes.h"

namespace recpack {
namespace {

constexpr int kPlanVersion = 1;

// Streams of the keyed permutation, so that splits are shuffled independently.
constexpr uint32_t kShuffleStream = 0x7061636b;  // "pack"

std::string ShardName(const std::string& split, uint32_t append, uint64_t shard, uint64_t of) {
  const std::string part = append == 0 ? "" : format("-append{}", append);
  return format("{}{}-{:05}-of-{:05}.tfrecord", split, part, shard, of);
}

// Cuts one split where the running size passes the next equal share.
void PlanSplit(const Source& source, const PlanOptions& options, size_t split, Plan& plan) {
  const uint64_t items = plan.splits[split].items;
  const PackingOrder order(plan, split);
  uint64_t total = 0;
  for (uint64_t i = 0; i < items; ++i) total += PlannedBytes(source, split, order(i));
  uint64_t shards = options.shards;
  if (shards == 0) shards = (total + options.shard_bytes - 1) / options.shard_bytes;
  shards = std::clamp<uint64_t>(shards, 1, std::max<uint64_t>(1, items));

  uint64_t position = 0, before = 0;
  for (uint64_t shard = 0; shard < shards; ++shard) {
    PlannedShard planned{.file = ShardName(plan.splits[split].name, options.append, shard, shards),
                         .split = split,
                         .begin = position};
    const uint64_t share = static_cast<uint64_t>(
        static_cast<double>(total) * static_cast<double>(shard + 1) / static_cast<double>(shards));
    const uint64_t leave = shards - shard - 1;  // every later shard gets an item at least
    const bool last = leave == 0;
    while (position + leave < items) {
      const uint64_t bytes = PlannedBytes(source, split, order(position));
      if (!last && planned.end > planned.begin && before + planned.bytes + bytes / 2 > share) break;
      planned.bytes += bytes;
      planned.end = ++position;
    }
    planned.end = position;
    before += planned.bytes;
    plan.shards.push_back(std::move(planned));
  }
}

template <typename T>
void Compare(const std::string& what, const T& there, const T& wanted, std::string& text) {
  if (there != wanted) {
    text += format("{}{} was '{}' and is now '{}'", text.empty() ? "" : ", ", what, there, wanted);
  }
}

}  // namespace

uint64_t Plan::items() const {
  uint64_t sum = 0;
  for (const auto& split : splits) sum += split.items;
  return sum;
}

uint64_t Plan::bytes() const {
  uint64_t sum = 0;
  for (const auto& shard : shards) sum += shard.bytes;
  return sum;
}

PackingOrder::PackingOrder(const Plan& plan, size_t split) {
  if (!plan.shuffle_seed) return;
  permutation_.emplace(*plan.shuffle_seed, kShuffleStream + static_cast<uint32_t>(split),
                       plan.source_items[split]);
}

Plan MakePlan(const Source& source, const PlanOptions& options,
              std::map<std::string, std::string> settings) {
  if (options.shard_bytes == 0) {
    throw Error(ErrorKind::kInvalidArgument, "a shard size of 0 bytes holds nothing");
  }
  Plan plan{.settings = std::move(settings),
            .fingerprint = source.Fingerprint(),
            .shuffle_seed = options.shuffle_seed,
            .splits = source.splits(),
            .source_items = {},
            .shards = {}};
  for (auto& split : plan.splits) {
    plan.source_items.push_back(split.items);
    if (options.limit > 0) split.items = std::min(split.items, options.limit);
  }
  if (plan.items() == 0) throw Error(ErrorKind::kInvalidArgument, "the source holds no items");
  for (size_t split = 0; split < plan.splits.size(); ++split) {
    if (plan.splits[split].items > 0) PlanSplit(source, options, split, plan);
  }
  return plan;
}

std::string PlanToJson(const Plan& plan) {
  Json json = {{"format", "recpack-plan"}, {"version", kPlanVersion}};
  json["fingerprint"] = plan.fingerprint;
  json["settings"] = plan.settings;
  json["shuffle_seed"] = plan.shuffle_seed ? Json(*plan.shuffle_seed) : Json();
  for (size_t i = 0; i < plan.splits.size(); ++i) {
    json["splits"].push_back({{"name", plan.splits[i].name},
                              {"items", plan.splits[i].items},
                              {"source_items", plan.source_items[i]}});
  }
  for (const auto& shard : plan.shards) {
    json["shards"].push_back({{"file", shard.file},
                              {"split", shard.split},
                              {"begin", shard.begin},
                              {"end", shard.end},
                              {"bytes", shard.bytes}});
  }
  return WriteJson(json);
}

Plan PlanFromJson(const std::string& text, const std::string& path) {
  return ReadJson(text, path, [&](const Json& json) {
    if (json.at("format") != "recpack-plan" || json.at("version") != kPlanVersion) {
      throw Error(ErrorKind::kUnsupported, "is a plan of another version", {.path = path},
                  "use --overwrite to start again");
    }
    Plan plan;
    plan.fingerprint = json.at("fingerprint");
    plan.settings = json.at("settings").get<std::map<std::string, std::string>>();
    if (!json.at("shuffle_seed").is_null())
      plan.shuffle_seed = json.at("shuffle_seed").get<uint64_t>();
    for (const Json& split : json.at("splits")) {
      plan.splits.push_back({.name = split.at("name"), .items = split.at("items")});
      plan.source_items.push_back(split.at("source_items"));
    }
    for (const Json& shard : json.at("shards")) {
      plan.shards.push_back({.file = shard.at("file"),
                             .split = shard.at("split"),
                             .begin = shard.at("begin"),
                             .end = shard.at("end"),
                             .bytes = shard.at("bytes")});
      const PlannedShard& planned = plan.shards.back();
      if (planned.split >= plan.splits.size() || planned.begin > planned.end ||
          planned.end > plan.splits[planned.split].items ||
          planned.file.find('/') != std::string::npos) {
        throw Error(ErrorKind::kCorrupt, format("plans an impossible shard '{}'", planned.file),
                    {.path = path}, "use --overwrite to start again");
      }
    }
    return plan;
  });
}

std::string DescribeDifference(const Plan& there, const Plan& wanted) {
  std::string text;
  for (const auto& [name, value] : wanted.settings) {
    const auto old = there.settings.find(name);
    Compare(name, old == there.settings.end() ? "" : old->second, value, text);
  }
  for (const auto& [name, value] : there.settings) {
    if (!wanted.settings.contains(name)) Compare(name, value, std::string(), text);
  }
  if (!text.empty()) return text;
  if (there.fingerprint != wanted.fingerprint) {
    text = "the names or sizes of the source's items changed";
    if (there.items() != wanted.items()) {
      text += format(" ({} items then, {} now)", there.items(), wanted.items());
    }
  } else if (PlanToJson(there) != PlanToJson(wanted)) {
    text = "the plan was made by another version of recpack";
  }
  return text;
}

}  // namespace recpack
