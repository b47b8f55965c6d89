#include "src/probe/report/merge.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "src/base/format.h"
#include "src/probe/report/kept_report.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr double kMuchWaiting = 0.1;  // as for the verdict of several trainers
constexpr double kSpared = 0.5;
constexpr double kMuchMore = 1.2;
constexpr double kWorthAWord = 0.05;  // of a rank's time

// Without waits, the loss is unknown even if steps were seen.
bool HasWaits(const KeptReport& report) { return report.verdict.band != Band::kUnknown; }

double Exchange(const KeptReport& report) { return report.verdict.breakdown.exchange; }

bool HasGpus(const KeptReport& report) { return report.job.gpus.value_or(0) > 0; }

double Devices(const KeptReport& report, bool gpus) {
  if (gpus) return report.job.gpus.value_or(0);
  return static_cast<double>(std::max<size_t>(report.steps.size(), 1));
}

// Device-hours in steps. Time outside of steps is not lost to input.
double StepHours(const KeptReport& report, bool gpus) {
  return Devices(report, gpus) * std::min(report.StepSeconds(), report.job.seconds) /
         kSecondsPerHour;
}

// Ranks that exchange values run in lockstep.
bool RunInLockstep(const JobReports& ranks) {
  return ranks.size() > 1 && std::all_of(ranks.begin(), ranks.end(), [](const KeptReport& rank) {
           return HasWaits(rank) && Exchange(rank) > 0;
         });
}

// Share of step time lost to input, for ranks in lockstep: a step ends when the last rank is ready;
// the loss is how much earlier that would be without input waits.
double ShareInStep(const JobReports& ranks, double Estimate::*end) {
  double ready = 0, work_ready = 0;
  for (const KeptReport& rank : ranks) {
    const double own = 1 - Exchange(rank);
    ready = std::max(ready, own);
    work_ready = std::max(work_ready, own - rank.verdict.input_share.*end);
  }
  return std::max(0.0, ready - work_ready);
}

Estimate LostInStep(const JobReports& ranks, bool gpus) {
  double hours = 0;
  for (const KeptReport& rank : ranks) hours += StepHours(rank, gpus);
  return {hours * ShareInStep(ranks, &Estimate::value), hours * ShareInStep(ranks, &Estimate::low),
          hours * ShareInStep(ranks, &Estimate::high)};
}

std::optional<Estimate> LostOneByOne(const JobReports& ranks, bool gpus) {
  std::optional<Estimate> lost;
  for (const KeptReport& rank : ranks) {
    if (!HasWaits(rank)) continue;
    const double hours = StepHours(rank, gpus);
    if (!lost) lost.emplace();
    lost->value += hours * rank.verdict.input_share.value;
    lost->low += hours * rank.verdict.input_share.low;
    lost->high += hours * rank.verdict.input_share.high;
  }
  return lost;
}

// Returns the rank that waits least for the others if these wait long for it, else nullptr.
const KeptReport* FindSlowRank(const JobReports& ranks, MergedJob& job) {
  if (!RunInLockstep(ranks)) return nullptr;
  const auto slowest = std::min_element(
      ranks.begin(), ranks.end(),
      [](const KeptReport& a, const KeptReport& b) { return Exchange(a) < Exchange(b); });
  double others = -Exchange(*slowest);
  for (const KeptReport& rank : ranks) others += Exchange(rank);
  others /= static_cast<double>(ranks.size() - 1);
  if (others <= kMuchWaiting || Exchange(*slowest) >= kSpared * others) return nullptr;
  job.slow_rank = slowest->job.rank;
  job.notes.push_back(format(
      "rank {} ({}) waited {} of its time for the others; they waited {} for it; its input took "
      "{}, "
      "its device's work {}",
      *slowest->job.rank, slowest->job.host, Percent(Exchange(*slowest)), Percent(others),
      Percent(slowest->verdict.breakdown.input_wait), Percent(slowest->verdict.breakdown.device)));
  return &*slowest;
}

// Returns the rank whose cause is that of the job: the slow rank, else the one whose input costs
// most.
const KeptReport& Decisive(const JobReports& ranks, const KeptReport* slow) {
  if (slow != nullptr) return *slow;
  return *std::max_element(ranks.begin(), ranks.end(), [](const auto& a, const auto& b) {
    return std::pair(HasWaits(a), a.verdict.input_share.value) <
           std::pair(HasWaits(b), b.verdict.input_share.value);
  });
}

// Notes that ranks may wait for each other without reporting it (DataLoaders under torchrun).
void NoteHiddenLoss(const JobReports& ranks, MergedJob& job) {
  const bool may_hide = job.ranks.size() > 1 && job.lost && !RunInLockstep(ranks) &&
                        std::ranges::all_of(ranks, HasWaits);
  if (!may_hide) return;
  double hours = 0, greatest = 0;
  for (const KeptReport& rank : ranks) {
    hours += StepHours(rank, job.gpus);
    greatest = std::max(greatest, rank.verdict.input_share.value);
  }
  if (greatest < kWorthAWord || hours * greatest < kMuchMore * job.lost->value) return;
  job.notes.push_back(
      format("its ranks report no exchange: if they train together, all wait for the input of the "
             "slowest one, and up to {:.2f} h are lost",
             hours * greatest));
}

void AddNotes(const JobReports& ranks, MergedJob& job) {
  if (!job.ranks.empty() && job.ranks.size() < static_cast<size_t>(job.world_size)) {
    job.notes.push_back(
        format("{} of {} ranks have a report: only they count", job.ranks.size(), job.world_size));
  }
  size_t without_waits = 0, ended_badly = 0;
  bool upper_bound = false;
  for (const KeptReport& rank : ranks) {
    without_waits += HasWaits(rank) ? 0 : 1;
    job.running += rank.job.running ? 1 : 0;
    ended_badly += rank.job.exit_code.value_or(0) != 0 ? 1 : 0;
    upper_bound |= rank.verdict.upper_bound;
  }
  if (without_waits > 0 && without_waits < ranks.size()) {
    job.notes.push_back(format("{} of its reports saw no waits for input", without_waits));
  }
  if (job.running > 0) {
    job.notes.push_back(format("{} of its programs go{} on: figures of the time so far",
                               job.running, job.running == 1 ? "es" : ""));
  }
  NoteHiddenLoss(ranks, job);
  if (ended_badly > 0) {
    job.notes.push_back(format("{} of its programs ended with an error", ended_badly));
  }
  if (upper_bound) {
    job.notes.emplace_back(
        "device work, waits of ranks for each other, or prefetching was not observed: the loss is "
        "an upper bound");
  }
}

MergedJob MergeRanks(const JobReports& ranks) {
  MergedJob job{.name = ranks.front().job.name, .user = ranks.front().job.user};
  job.world_size = ranks.front().job.world_size.value_or(1);
  job.gpus = std::all_of(ranks.begin(), ranks.end(), HasGpus);
  std::set<std::string> hosts;
  for (const KeptReport& rank : ranks) {
    hosts.insert(rank.job.host);
    if (job.world_size > 1 && rank.job.rank) job.ranks.push_back(*rank.job.rank);
    job.reports.push_back(rank.path);
    job.hours += Devices(rank, job.gpus) * rank.job.seconds / kSecondsPerHour;
  }
  job.hosts.assign(hosts.begin(), hosts.end());
  job.lost = RunInLockstep(ranks) ? std::optional(LostInStep(ranks, job.gpus))
                                  : LostOneByOne(ranks, job.gpus);
  const KeptReport* const slow = FindSlowRank(ranks, job);
  const KeptReport& decisive = Decisive(ranks, slow);
  job.verdict = BandName(decisive.verdict.band);
  job.cause = decisive.cause;
  job.cure = decisive.verdict.cure;
  if (slow != nullptr && job.cure.empty())
    job.cure = format("find out why rank {} is slow", *job.slow_rank);
  AddNotes(ranks, job);
  return job;
}

void AddTo(MergedHours& sum, const MergedJob& job) {
  sum.hours += job.hours;
  if (!job.lost) return;
  sum.known += job.hours;
  sum.lost.value += job.lost->value;
  sum.lost.low += job.lost->low;
  sum.lost.high += job.lost->high;
}

}  // namespace

size_t Merge::running() const {
  return std::accumulate(jobs.begin(), jobs.end(), size_t{0},
                         [](size_t sum, const MergedJob& job) { return sum + job.running; });
}

Merge MergeReports(FoundReports found) {
  Merge merge{.reports = found.reports.size(), .left_out = std::move(found.left_out)};
  for (const JobReports& ranks : JoinRanks(std::move(found.reports))) {
    merge.jobs.push_back(MergeRanks(ranks));
    const MergedJob& job = merge.jobs.back();
    AddTo(job.gpus ? merge.gpus : merge.devices, job);
    if (!job.lost) ++merge.unknown;
  }
  std::stable_sort(merge.jobs.begin(), merge.jobs.end(), [](const auto& a, const auto& b) {
    return (a.lost ? a.lost->value : -1) > (b.lost ? b.lost->value : -1);
  });
  return merge;
}

}  // namespace recpack::probe
