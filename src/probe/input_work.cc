#include "src/probe/input_work.h"

#include <algorithm>
#include <map>

#include "src/base/format.h"
#include "src/probe/percent.h"

namespace recpack {
namespace {

constexpr double kMostlyWorking = 0.5;  // of the workers' time; of one thread where there are none

}  // namespace

bool InputWorkIsSeen(const Evidence& evidence, Verdict& verdict) {
  std::map<Bottleneck, double> threads;
  double working = 0, waiting = 0;
  for (const InputWork& work : evidence.input_works) {
    for (const auto& [place, each] : work.threads) {
      threads[place] += each;
      working += each;
    }
    waiting += work.waiting;
  }
  if (working < kMostlyWorking * std::max(1.0, working + waiting)) return false;
  const auto most =
      std::max_element(threads.begin(), threads.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most->first == Bottleneck::kUnknown) return false;
  verdict.bottleneck = most->first;
  verdict.evidence = {
      format("the threads that make the input were {} of their time at work, and {} of that in {}",
             Percent(working / (working + waiting)), Percent(most->second / working),
             BottleneckName(most->first)),
      format("{:.1f} such threads worked on average, as their stacks of Python show", working)};
  return true;
}

}  // namespace recpack
