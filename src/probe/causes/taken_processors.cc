#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "src/base/format.h"
#include "src/probe/causes/rules.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

constexpr double kMuchQueueing = 0.15;   // of the time
constexpr double kMuchOfOthers = 0.2;    // of the allowed processors
constexpr double kMostlyTaken = 0.5;     // of the allowed processors, by any program
constexpr double kMuchThrottling = 0.2;  // of the quota's periods

// Mean share of time in the run queue, over the `count` threads that wanted a processor most.
double Queueing(const SystemRates& system, int process, size_t count) {
  std::vector<std::pair<double, double>> threads;  // wanted, waited for
  for (const ThreadRates& thread : system.threads) {
    if (process != 0 && thread.process != process) continue;
    const double queued = thread.run_queue_wait_share.value_or(0);
    threads.emplace_back(thread.cpu_share + queued, queued);
  }
  std::sort(threads.begin(), threads.end(), std::greater<>());
  count = std::min(count, threads.size());
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += threads[i].second;
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

}  // namespace

bool ProcessorsAreTaken(const Evidence& evidence, int process, size_t threads, Verdict& verdict) {
  if (!evidence.system) return false;
  const SystemRates& system = *evidence.system;
  const double queued = Queueing(system, process, threads);
  if (queued < kMuchQueueing) return false;
  const std::string queueing =
      format("the busiest threads waited {} of the time for a processor", Percent(queued));
  if (system.throttled_periods_share.value_or(0) > kMuchThrottling) {
    verdict.bottleneck = Bottleneck::kQuota;
    verdict.evidence = {format("the container's processor quota was used up in {} of its periods",
                               Percent(*system.throttled_periods_share)),
                        queueing};
    return true;
  }
  const double others = system.others_cores.value_or(0);
  if (system.allowed_cores == 0 || others < kMuchOfOthers * system.allowed_cores) return false;
  // If many processors are idle, other programs are not the cause of the waits.
  if (others + system.tree_cores < kMostlyTaken * system.allowed_cores) return false;
  verdict.bottleneck = Bottleneck::kInterference;
  verdict.evidence = {
      format("other programs used {:.1f} of {} processors", others, system.allowed_cores),
      queueing};
  verdict.notes.push_back(
      "other programs delay steps as well as their input: the share is of the waits alone");
  return true;
}

}  // namespace recpack::probe
