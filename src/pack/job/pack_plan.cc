#include "src/pack/job/pack_plan.h"

#include <cstdint>
#include <utility>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/pack/job/stale_files.h"
#include "src/shards/manifest/manifest.h"

namespace recpack::pack {
namespace {

Plan PlanAppend(const Source& source, const PackOptions& options, uint32_t append) {
  PlanOptions plan_options = options.plan;
  plan_options.append = append;
  return MakePlan(source, plan_options, AllSettings(source.kind(), options));
}

// Tells whether the last append is finished and its plan differs from `wanted`.
bool LastAppendIsAnotherJob(const Plan& wanted, const PackFolder& folder,
                            const PackOptions& options) {
  if (folder.append() == 0) return true;
  const Plan last = ReadPlan(*options.files, folder.PlanPath());
  return Lists(*folder.base(), last) && !DescribeDifference(last, wanted).empty();
}

// Tells whether the data set has shards with the plan's names and no plan says which job made them,
// because it was copied without its state folder.
bool HasShardsOfAnotherJob(const Plan& wanted, const PackFolder& folder,
                           const PackOptions& options) {
  return !options.files->Exists(folder.PlanPath()) && Lists(*folder.base(), wanted);
}

std::string WayOutOfAnotherJob(const PackFolder& folder) {
  if (folder.append() == 0) {
    return "to resume, use the same source and options; to start again, use --overwrite";
  }
  return format(
      "to resume, use the same source and options; to discard the append, if no job makes it any "
      "more, remove {} and the shards *-append{}-* in this folder, which are not in the data set "
      "yet",
      folder.PlanPath(), folder.append());
}

}  // namespace

std::map<std::string, std::string> AllSettings(const std::string& kind,
                                               const PackOptions& options) {
  auto settings = options.settings;
  settings["from"] = kind;
  settings["shard-size"] = std::to_string(options.plan.shard_bytes);
  settings["shards"] = std::to_string(options.plan.shards);
  settings["limit"] = std::to_string(options.plan.limit);
  settings["shuffle"] =
      options.plan.shuffle_seed ? std::to_string(*options.plan.shuffle_seed) : "off";
  settings["compression"] = CompressionName(options.writer.compression);
  if (options.writer.compression != Compression::kNone) {
    settings["level"] = std::to_string(options.writer.level);
  }
  settings["tasks"] = std::to_string(options.tasks);
  return settings;
}

Plan PlanPack(const Source& source, const PackOptions& options) {
  return PlanAppend(source, options, options.append ? 1 : 0);
}

Plan AdoptPlan(const Source& source, const PackOptions& options, PackFolder& folder) {
  const Descriptor turn = folder.TakeTurn();
  Plan plan = PlanAppend(source, options, folder.append());
  if (options.append && LastAppendIsAnotherJob(plan, folder, options)) {
    do {
      folder.StartNextAppend();
      plan = PlanAppend(source, options, folder.append());
    } while (HasShardsOfAnotherJob(plan, folder, options));
  }
  StorePlan(plan, folder, options);
  RemoveStaleTemporaries(plan, folder, options);
  return plan;
}

void StorePlan(const Plan& wanted, const PackFolder& folder, const PackOptions& options) {
  if (!options.files->Exists(folder.PlanPath())) {
    for (const auto& file : wanted.shards.files()) {
      if (!options.files->Exists(folder.ShardPath(file))) continue;
      throw Error(ErrorKind::kInvalidArgument, "already exists and was not written by recpack",
                  {.path = folder.ShardPath(file)}, "choose another folder, or move it away");
    }
    WritePlan(*options.files, folder.PlanPath(), wanted, options.sync);
    return;
  }
  const Plan there = ReadPlan(*options.files, folder.PlanPath());
  const std::string difference = DescribeDifference(there, wanted);
  if (difference.empty()) return;
  throw Error(ErrorKind::kInvalidArgument,
              folder.append() == 0
                  ? "this folder belongs to another pack job: " + difference
                  : "another append was started here and is not finished: " + difference,
              {.path = options.out}, WayOutOfAnotherJob(folder));
}

}  // namespace recpack::pack
