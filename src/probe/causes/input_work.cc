#include "src/probe/causes/input_work.h"

#include <algorithm>
#include <map>

#include "src/base/format.h"
#include "src/probe/util/percent.h"

namespace recpack::probe {
namespace {

constexpr double kMostlyWorking = 0.5;  // of a worker's time; of one thread where there are none

double Working(const InputWork& work) {
  double threads = 0;
  for (const auto& [place, each] : work.threads) threads += each;
  return threads;
}

// Others have nothing to do: those of a loader that has its batches, or of an evaluation that does
// not run.
bool IsBusy(const InputWork& work) {
  const double working = Working(work);
  return working >= kMostlyWorking * std::max(1.0, working + work.waiting);
}

// Workers that are started anew for each epoch have worked one after the other.
double SecondsOf(const Evidence& evidence) {
  if (evidence.system && evidence.system->seconds > 0) return evidence.system->seconds;
  return std::ranges::max(evidence.input_works, {}, &InputWork::seconds).seconds;
}

}  // namespace

bool InputWorkIsSeen(const Evidence& evidence, Verdict& verdict) {
  std::map<Bottleneck, double> threads;  // seconds of them
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
      format("the threads that make the input were {} of their time at work, and {} of that in {}",
             Percent(working / (working + waiting)), Percent(most->second / working),
             BottleneckName(most->first)),
      format("{:.1f} such threads worked on average, as their stacks of Python show",
             working / SecondsOf(evidence))};
  return true;
}

}  // namespace recpack::probe
