#include <algorithm>
#include <map>

#include "src/base/format.h"
#include "src/probe/causes/rules.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

constexpr double kMostlyWorking = 0.5;  // of a worker's time, at least of one thread

double Working(const InputWork& work) {
  double threads = 0;
  for (const auto& [place, each] : work.threads) threads += each;
  return threads;
}

// Processes that are not busy have no work: their loader has its batches ready, or belongs to an
// evaluation that does not run.
bool IsBusy(const InputWork& work) {
  const double working = Working(work);
  return working >= kMostlyWorking * std::max(1.0, working + work.waiting);
}

// Time over which work was observed. Workers that restart each epoch run one after the other, so
// their times must not be added up.
double ObservedSeconds(const Evidence& evidence) {
  if (evidence.system && evidence.system->seconds > 0) return evidence.system->seconds;
  return std::ranges::max(evidence.input_works, {}, &InputWork::seconds).seconds;
}

}  // namespace

bool InputWorkIsSeen(const Evidence& evidence, Verdict& verdict) {
  std::map<Bottleneck, double> threads;  // seconds, summed over threads
  double working = 0, waiting = 0;
  for (const InputWork& work : evidence.input_works) {
    if (!IsBusy(work)) continue;
    for (const auto& [place, each] : work.threads) threads[place] += each * work.seconds;
    working += Working(work) * work.seconds;
    waiting += work.waiting * work.seconds;
  }
  if (working <= 0) return false;
  const auto most =
      std::max_element(threads.begin(), threads.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most->first == Bottleneck::kUnknown) return false;
  verdict.bottleneck = most->first;
  verdict.evidence = {
      format("the threads that make the input worked {} of their time, and {} of that in {}",
             Percent(working / (working + waiting)), Percent(most->second / working),
             BottleneckName(most->first)),
      format("{:.1f} such threads worked on average, according to their Python stacks",
             working / ObservedSeconds(evidence))};
  return true;
}

}  // namespace recpack::probe
