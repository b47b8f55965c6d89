#include "src/base/format.h"
#include "src/probe/causes/rules.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

constexpr double kMuchQueueing = 0.15;   // of the time
constexpr double kMuchOfOthers = 0.2;    // of the allowed processors
constexpr double kMostlyTaken = 0.5;     // of the allowed processors, by any program
constexpr double kMuchThrottling = 0.2;  // of the quota's periods

}  // namespace

bool ProcessorsAreTaken(const Evidence& evidence, const Queueing& queueing, double saves,
                        Found& found) {
  if (!evidence.system || queueing.waited < kMuchQueueing) return false;
  const SystemRates& system = *evidence.system;
  const std::string waited =
      format("the busiest threads waited {} of the time for a processor", Percent(queueing.waited));
  if (system.throttled_periods_share.value_or(0) > kMuchThrottling) {
    found.causes.push_back(
        {.bottleneck = Bottleneck::kQuota,
         .saves = saves,
         .evidence = {format("the container's processor quota was used up in {} of its periods",
                             Percent(*system.throttled_periods_share)),
                      waited}});
    return true;
  }
  const double others = system.others_cores.value_or(0);
  if (system.allowed_cores == 0 || others < kMuchOfOthers * system.allowed_cores) return false;
  // If many processors are idle, other programs are not the cause of the waits.
  if (others + system.tree_cores < kMostlyTaken * system.allowed_cores) return false;
  found.causes.push_back({.bottleneck = Bottleneck::kInterference,
                          .saves = saves,
                          .evidence = {format("other programs used {:.1f} of {} processors", others,
                                              system.allowed_cores),
                                       waited}});
  found.notes.push_back(
      "other programs delay steps as well as their input: the share is of the waits alone");
  return true;
}

void TakenProcessors(const Situation& situation, Found& found) {
  const Evidence& evidence = situation.evidence;
  if (!evidence.system) return;
  const Pipeline& pipeline = situation.pipeline;
  const auto workers = FindWorkers(evidence);
  const LoaderWork* const work = situation.work;
  const Queueing queueing = work != nullptr
                                ? FindQueueing(*evidence.system, work->process, work->workers)
                            : workers.empty() ? FindQueueing(*evidence.system, 0, 1)
                                              : FindQueueing(*evidence.system, workers);
  ProcessorsAreTaken(evidence, queueing, pipeline.SavedWithoutOthers(), found);
}

}  // namespace recpack::probe
