// Measures the cost of verdicts while a program is watched: the time of StepCollector::Trainers(),
// Decide() and Metrics::Text(), as `run --prometheus` calls them, after --steps steps of each of
// --trainers trainers. Each step has events for a wait, the device's work and the step itself.
//
//   decide_bench [--steps 1000000] [--trainers 1] [--latest 10000] [--repeats 5]
#include <time.h>

#include <algorithm>
#include <cstdio>

#include "bench/record/timing.h"
#include "src/probe/causes/decide.h"
#include "src/probe/live/metrics.h"
#include "src/probe/steps/step_collector.h"
#include "src/probe/verdict/verdict.h"

namespace {

using namespace recpack;
using namespace recpack::probe;

constexpr int64_t kStep = 10'000'000;

void AddStep(int trainer, int64_t number, std::vector<TimedEvent>& events) {
  const int64_t begin = number * kStep;
  const auto add = [&](EventKind kind, int64_t from, int64_t to, bool open) {
    Event event{.kind = kind, .open = open, .device = static_cast<uint16_t>(trainer)};
    event.lane = static_cast<uint32_t>(trainer + 1);
    event.begin = begin + from;
    event.end = begin + to;
    event.value = static_cast<uint64_t>(number);
    events.push_back({event, 1, ""});
  };
  const int64_t wait = 1'000'000 + number % 7 * 100'000;
  add(EventKind::kInputWait, 0, 0, true);
  add(EventKind::kInputWait, 0, wait, false);
  add(EventKind::kDevice, wait, kStep - 1'000'000, false);
  add(EventKind::kCollective, kStep - 1'000'000, kStep - 500'000, false);
  add(EventKind::kStep, 0, kStep, false);
}

double CpuSeconds() {
  timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Flags flags(argc, argv);
  const int steps = flags.Number("--steps", "1000000");
  const int trainers = flags.Number("--trainers", "1");
  const auto latest = static_cast<size_t>(flags.Number("--latest", "10000"));
  StepCollector collector;
  std::vector<TimedEvent> events;
  const double before = CpuSeconds();
  for (int64_t number = 0; number < steps; ++number) {
    for (int trainer = 0; trainer < trainers; ++trainer) AddStep(trainer, number, events);
    if (number % 10 == 9) collector.Add(std::exchange(events, {}));
  }
  const double collecting = CpuSeconds() - before;
  Metrics metrics({.job = "bench"});
  double best = 1e9, collected = 1e9;
  size_t counted = 0;
  for (int i = 0; i < flags.Number("--repeats", "5"); ++i) {
    const double begin = CpuSeconds();
    const Evidence evidence{.trainers = collector.Trainers(steps * kStep, latest)};
    const double middle = CpuSeconds();
    const Verdict verdict = Decide(evidence);
    counted = verdict.steps;
    metrics.Text(evidence, verdict, {}, steps * kStep);
    collected = std::min(collected, middle - begin);
    best = std::min(best, CpuSeconds() - begin);
  }
  std::printf(
      "{\"job\": \"decide\", \"steps\": %d, \"trainers\": %d, \"latest\": %zu, \"counted\": %zu, "
      "\"cpu_ms\": %.2f, \"collecting_cpu_ms\": %.2f, \"share_of_one_core_every_15_s\": %.5f, "
      "\"cpu_ns_per_event_before\": %.0f}\n",
      steps, trainers, latest, counted, best * 1e3, collected * 1e3, best / 15,
      collecting * 1e9 / steps / trainers / 5);
  return 0;
}
