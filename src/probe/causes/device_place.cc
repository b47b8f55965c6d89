#include <algorithm>

#include "src/base/format.h"
#include "src/probe/causes/rules.h"
#include "src/probe/share/slow_rank.h"
#include "src/probe/util/units.h"

namespace recpack::probe {
namespace {

constexpr double kMuchLaunching = 0.15;   // of step time
constexpr double kMostlyLaunching = 0.5;  // of Breakdown::other
constexpr double kShared = 0.05;          // of all devices' work, outside the busiest device
constexpr double kAtOnce = 1.15;          // devices that compute at a time
constexpr double kMostly = 0.5;           // of the time
constexpr double kSlower = 0.97;          // of the highest clock

}  // namespace

bool LaunchesAreSlow(const std::vector<TrainerSteps>& trainers, const Breakdown& parts,
                     Found& found) {
  double gaps = 0, kernels = 0, device = 0, steps = 0;
  for (const TrainerSteps& trainer : trainers) {
    const auto count = static_cast<double>(trainer.steps.size());
    gaps += count * ShareOfTime(trainer, &StepRecord::launch_gaps);
    steps += count;
    for (const StepRecord& step : trainer.steps) {
      kernels += step.kernels;
      device += static_cast<double>(step.device);
    }
  }
  gaps /= std::max(1.0, steps);
  if (kernels == 0 || gaps < kMuchLaunching || gaps < kMostlyLaunching * parts.other) return false;
  found.causes.push_back(
      {.bottleneck = Bottleneck::kLaunch,
       .saves = gaps,
       .evidence = {
           format("the device was idle {} of step time, in gaps below 0.1 ms between the {:.0f} "
                  "kernels a step",
                  Percent(gaps), kernels / steps),
           format("a kernel took {:.1f} us on average", device / kernels * 1e-3)}});
  return true;
}

bool DevicesTakeTurns(const std::vector<TrainerSteps>& trainers, Found& found) {
  double any = 0, all = 0, more = 0, handing = 0, step_time = 0;
  for (const TrainerSteps& trainer : trainers) {
    for (const StepRecord& step : trainer.steps) {
      if (step.all_devices == 0) continue;
      any += static_cast<double>(step.device);
      all += static_cast<double>(step.all_devices);
      more += static_cast<double>(step.more_devices);
      handing += static_cast<double>(step.hand_overs);
      step_time += static_cast<double>(step.duration());
    }
  }
  if (all == 0 || any + handing < kMostly * step_time) return false;
  if (more < kShared * all || all > kAtOnce * any) return false;
  found.causes.push_back(
      {.bottleneck = Bottleneck::kTurns,
       .evidence = {
           format("while any of a trainer's devices computed, {:.2f} of them computed on average",
                  all / any),
           format("that was {} of step time; passing results from one device to another took {}",
                  Percent(any / step_time), Percent(handing / step_time)),
           format("devices other than the busiest one did {} of the work", Percent(more / all))}});
  return true;
}

bool ClockIsThrottled(const Evidence& evidence, double device, Found& found) {
  for (const GpuUse& gpu : evidence.gpus) {
    if (gpu.throttled_share.value_or(0) < kMostly || !gpu.busy_clock || !gpu.highest_clock ||
        *gpu.busy_clock > kSlower * *gpu.highest_clock) {
      continue;
    }
    Cause cause{
        .bottleneck = Bottleneck::kThrottled,
        .evidence = {
            format(
                "the clock of GPU {} was throttled {} of the time while it worked, mostly by: {}",
                gpu.device, Percent(*gpu.throttled_share), gpu.throttled_by),
            format("it ran at {:.0f} MHz of {:.0f} on average", *gpu.busy_clock,
                   *gpu.highest_clock)}};
    if (device > 0) cause.saves = device * (1 - *gpu.busy_clock / *gpu.highest_clock);
    if (gpu.power && gpu.power_limit) {
      cause.evidence.push_back(format("it drew {:.0f} W of {:.0f}", *gpu.power, *gpu.power_limit));
    }
    found.causes.push_back(std::move(cause));
    return true;
  }
  return false;
}

}  // namespace recpack::probe
