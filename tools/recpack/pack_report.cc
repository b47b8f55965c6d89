#include "tools/recpack/pack_report.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "recpack/base/hash.h"
#include "src/base/format.h"
#include "src/pack/job/estimate.h"
#include "src/pack/job/pack_plan.h"
#include "src/remote/url/url.h"
#include "tools/recpack/numbers.h"
#include "tools/recpack/output.h"

namespace recpack::tool {
namespace {

constexpr uint64_t kManyShards = 10'000;

Json SkippedJson(const std::vector<SkippedItem>& skipped) {
  Json list = Json::array();
  for (const auto& item : skipped) list.push_back({{"path", item.item}, {"reason", item.reason}});
  return list;
}

// Tells whether sizes differ by more than framing, feature names and rounding.
bool SizesDiffer(const pack::PackResult& result) {
  const auto planned = static_cast<double>(result.plan.bytes());
  const auto actual = static_cast<double>(result.bytes);
  return std::abs(actual - planned) > 0.1 * planned;
}

// Returns the free space of the disk that a folder is, or will be, on; nullopt for URLs.
std::optional<uint64_t> FreeBytes(const std::string& folder) {
  if (remote::IsUrl(folder)) return {};
  std::error_code unknown;
  std::filesystem::path there = std::filesystem::absolute(folder);
  while (!std::filesystem::exists(there) && there.has_relative_path()) there = there.parent_path();
  return std::filesystem::space(there, unknown).available;
}

}  // namespace

void SuggestShardSize(const pack::Plan& plan) {
  if (plan.shards.size() <= kManyShards) return;
  std::string size = BytesText(plan.bytes() / 1000);
  std::erase(size, ' ');  // so that the flag accepts it
  std::fprintf(stderr,
               "recpack: %zu shards are many files; --shard-size %s would give about 1,000\n",
               plan.shards.size(), size.c_str());
}

void PrintPackJson(const pack::PackResult& result, const pack::PackOptions& options,
                   double seconds) {
  // Row by row, since there may be very many shards.
  Json head = {{"records", result.records}, {"bytes", result.bytes}, {"seconds", seconds}};
  head["complete"] = result.complete;
  std::string text = JsonLine(head);
  text.back() = ',';  // the object continues
  text += "\"shards\":[";
  pack::VisitPackedShards(options, result.plan, [&](const ManifestShard& shard) {
    Json row = {{"path", options.shown_out() + "/" + shard.file},
                {"records", shard.records},
                {"bytes", shard.bytes}};
    row["sha256"] = shard.sha256 ? Json(Hex(*shard.sha256)) : Json();
    std::fputs((text + JsonLine(row)).c_str(), stdout);
    text = ",";
  });
  if (text != ",") std::fputs(text.c_str(), stdout);  // no shard
  std::printf("],\"skipped\":%s}\n", JsonLine(SkippedJson(result.skipped)).c_str());
}

void PrintPackSummary(const pack::PackResult& result, const pack::PackOptions& options,
                      double seconds) {
  for (const auto& split : result.manifest.splits) {
    std::printf("%-12s %18s  %10s  %s\n", split.name.c_str(),
                Counted(split.records(), "record").c_str(), BytesText(split.bytes()).c_str(),
                Counted(split.shards.size(), "shard").c_str());
  }
  std::printf("packed %s, %s, into %s in %s", Counted(result.records, "record").c_str(),
              BytesText(result.bytes).c_str(), options.shown_out().c_str(),
              DurationText(seconds).c_str());
  if (result.shards_found > 0) {
    std::printf(" (%s of %s already existed)", CountText(result.shards_found).c_str(),
                Counted(result.shards, "shard").c_str());
  }
  std::printf("\n");
  if (result.complete && SizesDiffer(result)) {
    std::printf("planned were %s: the plan uses the sizes of the source files\n",
                BytesText(result.plan.bytes()).c_str());
  }
  if (!result.complete && !result.skip_limit_exceeded) {
    std::printf("shards of other tasks are missing: the last task writes the manifest\n");
  }
}

void PrintSkipped(const pack::PackResult& result, const pack::PackOptions& options) {
  for (const auto& item : result.skipped) {
    std::fprintf(stderr, "skipped %s: %s\n", item.item.c_str(), item.reason.c_str());
  }
  if (result.skip_limit_exceeded) {
    std::fprintf(
        stderr,
        "recpack: more items%s are bad than --max-skip allows; the manifest was not written. "
        "Repair them, or raise --max-skip and run the same command again\n",
        options.tasks > 1 ? " of all tasks together" : "");
  }
}

void PrintNotices(const pack::Source& source, const Manifest& manifest) {
  for (const auto& notice : pack::PackNotices(source, manifest)) {
    std::fprintf(stderr, "note: %s\n", notice.c_str());
  }
}

void PrintDryRun(const pack::Source& source, const pack::PackOptions& options, bool json_wanted) {
  const pack::Plan plan = pack::PlanPack(source, options);
  SuggestShardSize(plan);
  const std::optional<uint64_t> free = FreeBytes(options.out);
  const pack::PackEstimate estimate = pack::EstimatePack(source, plan, options);
  const auto bytes =
      static_cast<uint64_t>(static_cast<double>(plan.bytes()) * estimate.bytes_ratio);
  if (json_wanted) {
    Json json = {{"records", plan.items()},
                 {"bytes", bytes},
                 {"seconds", estimate.seconds},
                 {"seconds_include", {"reading", "encoding", "checksums", "compression"}},
                 {"seconds_exclude", {"listing", "writing", "syncing"}},
                 {"free_bytes", free ? Json(*free) : Json()}};
    json["shards"] = Json::array();
    for (const auto& shard : plan.shards) {
      json["shards"].push_back({{"path", options.shown_out() + "/" + shard.file},
                                {"records", shard.end - shard.begin},
                                {"bytes", shard.bytes}});
    }
    PrintJson(json);
    return;
  }
  for (const auto& shard : plan.shards) {
    std::printf("%s  %s  about %s\n", shard.file.c_str(),
                Counted(shard.end - shard.begin, "record").c_str(), BytesText(shard.bytes).c_str());
  }
  std::printf("would write about %s in %s", BytesText(bytes).c_str(),
              Counted(plan.shards.size(), "shard").c_str());
  if (free) std::printf("; %s are free", BytesText(*free).c_str());
  std::printf("\n");
  std::printf(
      "reading, encoding and compressing would take about %s, estimated by a trial of %s; writing "
      "and syncing, which depend on the disk, take additional time\n",
      DurationText(estimate.seconds).c_str(), Counted(estimate.tried, "item").c_str());
}

}  // namespace recpack::tool
