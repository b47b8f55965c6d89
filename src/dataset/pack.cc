#include "recpack/dataset/pack.h"

#include <cmath>
#include <memory>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/parallel.h"
#include "src/base/format.h"
#include "src/dataset/finish_pack.h"
#include "src/dataset/pack_folder.h"
#include "src/dataset/progress_meter.h"
#include "src/dataset/shard_job.h"

namespace recpack {
namespace {

std::map<std::string, std::string> AllSettings(const Source& source, const PackOptions& options) {
  auto settings = options.settings;
  settings["from"] = source.kind();
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

Plan PlanAppend(const Source& source, const PackOptions& options, uint32_t append) {
  PlanOptions plan_options = options.plan;
  plan_options.append = append;
  return MakePlan(source, plan_options, AllSettings(source, options));
}

Plan AdoptPlan(const Source& source, const PackOptions& options, PackFolder& folder) {
  const Descriptor turn = folder.TakeTurn();
  Plan plan = PlanAppend(source, options, folder.append());
  if (options.append && folder.LastAppendIsAnotherJob(plan)) {
    folder.StartNextAppend();
    plan = PlanAppend(source, options, folder.append());
  }
  folder.Adopt(plan);
  folder.RemoveStaleTemporaries(plan);
  return plan;
}

struct PlannedWork {
  const PlannedShard* shard = nullptr;
  bool complete = false;
  Sidecar sidecar = {};  // of an incomplete shard: only what was skipped
};

// This task's shards, and which of them are there already.
std::vector<PlannedWork> FindWork(const JobState& job) {
  std::vector<PlannedWork> work;
  for (size_t i = job.options.task; i < job.plan.shards.size(); i += job.options.tasks) {
    work.push_back({.shard = &job.plan.shards[i]});
    if (auto found = job.folder.FindComplete(job.plan.shards[i])) {
      work.back().complete = true;
      work.back().sidecar = std::move(*found);
    }
  }
  return work;
}

// Packs what is missing, each thread with a reader of its own.
void PackMissing(JobState& job, std::vector<PlannedWork>& work) {
  std::vector<PlannedWork*> missing;
  for (auto& shard : work) {
    if (!shard.complete) missing.push_back(&shard);
  }
  const int threads = job.options.threads;
  std::vector<std::unique_ptr<ItemReader>> readers(ParallelThreads(missing.size(), threads));
  ParallelFor(missing.size(), threads, [&](size_t worker, size_t i) {
    if (job.stop) return;
    try {
      if (!readers[worker]) readers[worker] = job.source.NewReader();
      PlannedWork& shard = *missing[i];
      shard.complete = PackShard(job, *shard.shard, *readers[worker], shard.sidecar);
    } catch (...) {
      job.stop = true;
      throw;
    }
  });
}

}  // namespace

Plan PlanPack(const Source& source, const PackOptions& options) {
  return PlanAppend(source, options, options.append ? 1 : 0);
}

PackResult Pack(const Source& source, const PackOptions& options) {
  if (options.tasks == 0 || options.task >= options.tasks) {
    throw Error(ErrorKind::kInvalidArgument,
                format("there is no task {} of {}", options.task, options.tasks));
  }
  if (options.overwrite && options.tasks > 1) {
    throw Error(ErrorKind::kInvalidArgument,
                "one task cannot overwrite what the others may have made", {.path = options.out},
                "remove the folder, then start all tasks");
  }
  PackFolder folder(options);
  const Plan plan = AdoptPlan(source, options, folder);
  if (options.planned) options.planned(plan);
  JobState job{.source = source, .options = options, .plan = plan, .folder = folder};
  job.skip_limit = static_cast<uint64_t>(
      std::floor(options.max_skip * static_cast<double>(plan.items()) + 1e-9));
  ProgressMeter meter(options.progress, plan.bytes());
  if (options.progress) job.on_item = [&](uint64_t bytes) { meter.Add(bytes); };

  std::vector<PlannedWork> work = FindWork(job);
  PackResult result;
  for (const auto& shard : work) {
    if (!shard.complete) continue;
    ++result.shards_found;
    job.skipped += shard.sidecar.skipped.size();
    meter.Add(shard.shard->bytes);
  }
  PackMissing(job, work);
  for (auto& done : work) {
    result.skipped.insert(result.skipped.end(), done.sidecar.skipped.begin(),
                          done.sidecar.skipped.end());
    if (!done.complete) continue;
    result.records += done.sidecar.shard.records;
    result.bytes += done.sidecar.shard.bytes;
    result.shards.push_back(done.sidecar.shard);
  }
  result.skip_limit_exceeded = job.skipped > job.skip_limit;
  result.complete =
      !result.skip_limit_exceeded && FinishPack(source, plan, folder, options, result.manifest);
  return result;
}

}  // namespace recpack
