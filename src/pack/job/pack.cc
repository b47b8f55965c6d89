#include "src/pack/job/pack.h"

#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/parallel.h"
#include "src/base/format.h"
#include "src/pack/job/append_check.h"
#include "src/pack/job/finish_pack.h"
#include "src/pack/job/pack_folder.h"
#include "src/pack/job/pack_settings.h"
#include "src/pack/job/shard_job.h"
#include "src/shards/files/progress_meter.h"

namespace recpack::pack {
namespace {

Plan PlanAppend(const Source& source, const PackOptions& options, uint32_t append) {
  PlanOptions plan_options = options.plan;
  plan_options.append = append;
  return MakePlan(source, plan_options, AllSettings(source.kind(), options));
}

Plan AdoptPlan(const Source& source, const PackOptions& options, PackFolder& folder) {
  const Descriptor turn = folder.TakeTurn();
  Plan plan = PlanAppend(source, options, folder.append());
  if (options.append && folder.LastAppendIsAnotherJob(plan)) {
    do {
      folder.StartNextAppend();
      plan = PlanAppend(source, options, folder.append());
    } while (folder.HasShardsOfAnotherJob(plan));
  }
  folder.Adopt(plan);
  folder.RemoveStaleTemporaries(plan);
  return plan;
}

// What is known of this task's shards. Of a shard that is complete only its counts are kept: its
// sidecar has the rest.
class Ledger {
 public:
  // Finds which shards are there already.
  Ledger(const JobState& job, PackResult& result) : result_(result) {
    for (size_t i = job.options.task; i < job.plan.shards.size(); i += job.options.tasks) {
      const PlannedShard shard = job.plan.shards[i];
      if (const auto sidecar = job.folder.FindComplete(shard.file)) {
        ++result_.shards_found;
        planned_bytes_found_ += shard.bytes;
        Add(i, *sidecar, true);
      } else {
        missing_.push_back(i);
      }
    }
  }

  // Shards, by number. To be asked once.
  std::vector<size_t> TakeMissing() { return std::move(missing_); }
  uint64_t planned_bytes_found() const { return planned_bytes_found_; }

  // Any thread.
  void Add(size_t shard, const Sidecar& sidecar, bool complete) {
    const std::lock_guard lock(mutex_);
    if (!sidecar.skipped.empty()) skipped_[shard] = sidecar.skipped;
    if (!complete) return;
    ++result_.shards;
    result_.records += sidecar.shard.records;
    result_.bytes += sidecar.shard.bytes;
  }

  void ListSkipped() {
    for (const auto& [shard, items] : skipped_) {
      result_.skipped.insert(result_.skipped.end(), items.begin(), items.end());
    }
  }

  uint64_t skipped() const {
    uint64_t sum = 0;
    for (const auto& [shard, items] : skipped_) sum += items.size();
    return sum;
  }

 private:
  PackResult& result_;
  uint64_t planned_bytes_found_ = 0;
  std::mutex mutex_;
  std::vector<size_t> missing_;
  std::map<size_t, std::vector<SkippedItem>> skipped_;
};

// Threads of the i-th of `shards` shards that are packed at once: one each, or a share of all where
// there are more threads than shards and that is of use.
size_t ThreadsOf(size_t i, size_t shards, const JobState& job) {
  const size_t threads = ParallelThreads(SIZE_MAX, job.options.threads);
  if (shards >= threads || !job.source.items_take_work()) return 1;
  return threads / shards + (i < threads % shards ? 1 : 0);
}

// Packs what is missing, each thread with a reader of its own.
void PackMissing(JobState& job, Ledger& ledger) {
  const std::vector<size_t> missing = ledger.TakeMissing();
  const int threads = job.options.threads;
  std::vector<std::vector<ReaderSlot>> readers(ParallelThreads(missing.size(), threads));
  ParallelFor(missing.size(), threads, [&](size_t worker, size_t i) {
    if (job.stop) return;
    try {
      readers[worker].resize(ThreadsOf(i, missing.size(), job));
      Sidecar sidecar;
      const bool complete = PackShard(job, job.plan.shards[missing[i]], readers[worker], sidecar);
      ledger.Add(missing[i], sidecar, complete);
    } catch (...) {
      job.stop = true;
      throw;
    }
  });
}

bool HasCompressed(const Manifest& manifest) {
  for (const ManifestSplit& split : manifest.splits) {
    for (const ManifestShard& shard : split.shards) {
      if (shard.compression != Compression::kNone) return true;
    }
  }
  return false;
}

// At the end, when it would be written, is too late.
void CheckDaliIndex(const PackOptions& options, bool compressed) {
  if (!options.dali_index || !compressed) return;
  throw Error(ErrorKind::kInvalidArgument,
              "shards are compressed, and DALI, which is to have an index, reads them as they are",
              {.path = options.out}, "leave out DALI's index, or pack without compression");
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
  if (!(options.max_skip >= 0 && options.max_skip <= 1)) {
    throw Error(ErrorKind::kInvalidArgument,
                format("{} is no share of items that may be bad", options.max_skip), {},
                "give one from 0 to 1");
  }
  if (options.overwrite && options.append) {
    throw Error(ErrorKind::kInvalidArgument, "overwriting would remove what is to be appended to",
                {.path = options.out}, "choose one of them");
  }
  if (const std::string why = source.WhyNotAppended(); options.append && !why.empty()) {
    throw Error(ErrorKind::kInvalidArgument, why, {.path = options.out},
                "pack all of it together, without --append");
  }
  CheckPlannable(source, options.plan);  // before the folder is made
  CheckDaliIndex(options, options.writer.compression != Compression::kNone);
  PackFolder folder(options);
  if (folder.base()) {  // not when all is packed
    CheckDaliIndex(options, HasCompressed(*folder.base()));
    CheckAppend(source, *folder.base(), options.out);
  }
  PackResult result{.plan = AdoptPlan(source, options, folder)};
  const Plan& plan = result.plan;
  if (options.planned) options.planned(plan);
  JobState job{.source = source, .options = options, .plan = plan, .folder = folder};
  job.skip_limit = static_cast<uint64_t>(
      std::floor(options.max_skip * static_cast<double>(plan.items()) + 1e-9));
  ProgressMeter meter(options.progress, plan.bytes());
  if (options.progress) job.on_item = [&](uint64_t bytes) { meter.Add(bytes); };

  Ledger ledger(job, result);
  job.skipped = ledger.skipped();
  if (result.shards_found > 0) meter.Add(ledger.planned_bytes_found());
  PackMissing(job, ledger);
  ledger.ListSkipped();
  const PackFinish finish =
      job.skipped > job.skip_limit
          ? PackFinish::kTooManySkipped
          : FinishPack(source, plan, folder, options, job.skip_limit, result.manifest);
  result.skip_limit_exceeded = finish == PackFinish::kTooManySkipped;
  result.complete = finish == PackFinish::kDone;
  return result;
}

void VisitPackedShards(const PackOptions& options, const Plan& plan,
                       const std::function<void(const ManifestShard&)>& visit) {
  for (size_t i = options.task; i < plan.shards.size(); i += options.tasks) {
    const std::string file = plan.shards.files()[i];
    const std::string sidecar = SidecarPath(options.out, file);
    // A shard that was never finished has no sidecar, or no file of its own name.
    if (!options.files->Exists(options.out + "/" + file) || !options.files->Exists(sidecar)) {
      continue;
    }
    visit(ReadSidecar(*options.files, sidecar).shard);
  }
}

}  // namespace recpack::pack
