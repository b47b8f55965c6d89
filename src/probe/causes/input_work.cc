#include <algorithm>
#include <map>

#include "src/base/format.h"
#include "src/probe/causes/rules.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

constexpr double kLeastWork = 0.25;  // threads at work, of the share of time that waits for them

// Time over which work was observed. Workers that restart each epoch run one after the other, so
// their times must not be added up.
double ObservedSeconds(const Evidence& evidence) {
  if (evidence.system && evidence.system->seconds > 0) return evidence.system->seconds;
  return std::ranges::max(evidence.input_works, {}, &InputWork::seconds).seconds;
}

}  // namespace

void InputWorkInPython(const Situation& situation, Found& found) {
  if (situation.work != nullptr) return;
  std::map<Bottleneck, double> threads;  // seconds, summed over threads
  double working = 0, waiting = 0;
  for (const InputWork& work : situation.evidence.input_works) {
    if (!IsBusy(work)) continue;
    for (const auto& [place, each] : work.threads) threads[place] += each * work.seconds;
    working += Working(work) * work.seconds;
    waiting += work.waiting * work.seconds;
  }
  if (working <= 0) return;
  // Threads that hardly work are not what is waited for, such as those of workers that have just
  // been started.
  const double threads_at_work = working / ObservedSeconds(situation.evidence);
  if (threads_at_work < kLeastWork * situation.verdict.input_share.value) return;
  for (const auto& [place, seconds] : threads) {
    if (place == Bottleneck::kUnknown || seconds <= 0) continue;
    const double share = seconds / working;
    found.causes.push_back(
        {.bottleneck = place,
         .saves = situation.pipeline.Saved(situation.pipeline.making * share),
         .weight = share,
         .evidence = {
             format("the threads that make the input worked {} of their time, and {} of that in {}",
                    Percent(working / (working + waiting)), Percent(share), BottleneckName(place)),
             format("{:.1f} such threads worked on average, according to their Python stacks",
                    threads_at_work)}});
  }
}

}  // namespace recpack::probe
