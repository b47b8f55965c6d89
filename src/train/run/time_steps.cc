#include "src/train/run/time_steps.h"

#include <algorithm>
#include <chrono>

#include "src/train/ops/seconds.h"
#include "src/train/run/epoch_sums.h"
#include "src/train/run/tower_input.h"

namespace recpack::train {
namespace {

using Clock = std::chrono::steady_clock;

// Returns the number of samples. The epoch may end within the steps.
uint64_t TakeSteps(const TimedDevice& device, TowerInput& input, int64_t steps) {
  uint64_t samples = 0;
  for (int64_t i = 0; i < steps;) {
    DeviceBatch* batch = input.Next();
    if (batch == nullptr) continue;
    device.step(*batch);
    samples += batch->size();
    ++i;
  }
  return samples;
}

double Mean(Collective& control, double seconds) {
  return static_cast<double>(SumOverTowers(control, static_cast<uint64_t>(seconds * 1e9))) * 1e-9 /
         control.size();
}

double Longest(Collective& control, double seconds) {
  const auto all = GatherValues(control, static_cast<uint64_t>(seconds * 1e9));
  return static_cast<double>(*std::max_element(all.begin(), all.end())) * 1e-9;
}

StepTiming TimeTurn(const TimedDevice& device, const StepTimingOptions& options, InputKind kind) {
  TowerInput input(device.feeder, device.index, kind, device.held);
  TakeSteps(device, input, options.warmup);
  device.settle();
  device.control.Barrier();
  const ExchangeAccount before = device.account();
  device.transfers();
  const double waited = input.waited();
  const auto begin = Clock::now();
  const uint64_t samples = TakeSteps(device, input, options.steps);
  const double input_wait = input.waited() - waited;
  device.settle();
  device.control.Barrier();
  // A device whose thread started its clock late has seen less of the others' steps.
  const double seconds = Longest(device.control, SecondsSince(begin));
  const ExchangeAccount after = device.account();
  const TransferAccount copied = device.transfers();
  const auto steps = static_cast<double>(options.steps);
  return {
      .input = kind,
      .samples_per_second = static_cast<double>(SumOverTowers(device.control, samples)) / seconds,
      .step_seconds = seconds / steps,
      .input_wait_seconds = Mean(device.control, input_wait) / steps,
      .exchange_wait_seconds = Mean(device.control, after.waited - before.waited) / steps,
      .exchange_bytes =
          static_cast<double>(SumOverTowers(device.control, after.bytes - before.bytes)) / steps,
      .copies = static_cast<double>(copied.calls) / steps,
      .copy_bytes = static_cast<double>(copied.bytes) / steps,
      .copy_seconds = copied.seconds / steps,
      .epoch_steps = static_cast<double>(device.feeder.steps_per_epoch())};
}

}  // namespace

std::vector<StepTiming> TimeSteps(const TimedDevice& device, const StepTimingOptions& options) {
  std::vector<std::vector<StepTiming>> turns(options.inputs.size());
  for (int round = 0; round < options.rounds; ++round) {
    for (size_t i = 0; i < options.inputs.size(); ++i) {
      turns[i].push_back(TimeTurn(device, options, options.inputs[i]));
    }
  }
  std::vector<StepTiming> medians;
  medians.reserve(turns.size());
  for (const auto& of_kind : turns) medians.push_back(MedianTiming(of_kind));
  return medians;
}

}  // namespace recpack::train
