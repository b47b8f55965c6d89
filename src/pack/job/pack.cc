#include "src/pack/job/pack.h"

#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "recpack/base/error.h"
#include "recpack/base/parallel.h"
#include "src/base/format.h"
#include "src/pack/job/finish_pack.h"
#include "src/pack/job/pack_folder.h"
#include "src/pack/job/pack_plan.h"
#include "src/pack/job/shard_job.h"
#include "src/pack/job/side_files.h"
#include "src/pack/sources/tfrecord/tfrecord.h"
#include "src/shards/files/progress_meter.h"
#include "src/shards/manifest/sidecar.h"

namespace recpack::pack {
namespace {

// Results of this task's shards. Only the counts of complete shards are kept; the rest is in their
// sidecars.
class Ledger {
 public:
  // Finds the shards that are already complete.
  Ledger(const JobState& job, PackResult& result) : result_(result) {
    for (size_t i = job.options.task; i < job.plan.shards.size(); i += job.options.tasks) {
      const PlannedShard shard = job.plan.shards[i];
      if (const auto sidecar = FindSidecar(*job.options.files, job.options.out, shard.file)) {
        ++result_.shards_found;
        planned_bytes_found_ += shard.bytes;
        Add(i, *sidecar, true);
      } else {
        missing_.push_back(i);
      }
    }
  }

  // Returns the numbers of the missing shards. Call once.
  std::vector<size_t> TakeMissing() { return std::move(missing_); }
  uint64_t planned_bytes_found() const { return planned_bytes_found_; }

  // Thread-safe.
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

// Number of threads for the i-th of `shards` shards packed at once: one, or a share of all threads
// if there are more threads than shards and items take work.
size_t ShardThreads(size_t i, size_t shards, const JobState& job) {
  const size_t threads = ParallelThreads(SIZE_MAX, job.options.threads);
  if (shards >= threads || !job.source.items_take_work()) return 1;
  return threads / shards + (i < threads % shards ? 1 : 0);
}

// Packs the missing shards; each thread has its own reader.
void PackMissing(JobState& job, Ledger& ledger) {
  const std::vector<size_t> missing = ledger.TakeMissing();
  const int threads = job.options.threads;
  std::vector<std::vector<ReaderSlot>> readers(ParallelThreads(missing.size(), threads));
  ParallelFor(missing.size(), threads, [&](size_t worker, size_t i) {
    if (job.stop) return;
    try {
      readers[worker].resize(ShardThreads(i, missing.size(), job));
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

// Called first, because the index is only written at the end.
void CheckDaliIndex(const PackOptions& options, bool compressed) {
  if (!options.dali_index || !compressed) return;
  throw Error(ErrorKind::kInvalidArgument,
              "DALI cannot read compressed shards, so they cannot have DALI's index",
              {.path = options.out}, "leave out DALI's index, or pack without compression");
}

}  // namespace

void CheckTasks(const PackOptions& options) {
  if (options.tasks == 0 || options.task >= options.tasks) {
    throw Error(ErrorKind::kInvalidArgument,
                format("there is no task {} of {}", options.task, options.tasks));
  }
  if (options.overwrite && options.tasks > 1) {
    throw Error(ErrorKind::kInvalidArgument, "one task cannot overwrite the output of the others",
                {.path = options.out}, "remove the folder, then start all tasks");
  }
}

PackResult Pack(const Source& source, const PackOptions& options) {
  CheckTasks(options);
  if (!(options.max_skip >= 0 && options.max_skip <= 1)) {
    throw Error(ErrorKind::kInvalidArgument,
                format("invalid share of bad items: {}", options.max_skip), {},
                "give a number from 0 to 1");
  }
  if (options.overwrite && options.append) {
    throw Error(ErrorKind::kInvalidArgument,
                "overwriting would remove the data set that is to be appended to",
                {.path = options.out}, "append or overwrite, not both");
  }
  if (const std::string why = source.WhyNotAppended(); options.append && !why.empty()) {
    throw Error(ErrorKind::kInvalidArgument, why, {.path = options.out},
                "pack all of it together, without --append");
  }
  CheckPlannable(source, options.plan);  // before the folder is created
  CheckDaliIndex(options, options.writer.compression != Compression::kNone);
  PackFolder folder(options);
  if (folder.base()) {  // nullopt if everything is already packed
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
  if (options.others) options.others();
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
    // An unfinished shard lacks its sidecar or its final name.
    if (!options.files->Exists(options.out + "/" + file) || !options.files->Exists(sidecar)) {
      continue;
    }
    visit(ReadSidecar(*options.files, sidecar).shard);
  }
}

std::vector<std::string> PackNotices(const Source& source, const Manifest& manifest) {
  std::vector<std::string> notices = source.Notices();
  std::map<int64_t, uint64_t> counts;
  for (const auto& split : manifest.splits) {
    for (const auto& [label, count] : split.class_counts) counts[label] += count;
  }
  if (auto notice = OneBasedLabelNotice(counts)) notices.push_back(std::move(*notice));
  return notices;
}

}  // namespace recpack::pack
