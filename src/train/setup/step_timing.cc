#include "src/train/setup/step_timing.h"

#include <utility>
#include <vector>

#include "recpack/base/median.h"

namespace recpack::train {
namespace {

double MedianMember(std::span<const StepTiming> turns, double StepTiming::*member) {
  std::vector<double> values;
  for (const StepTiming& turn : turns) values.push_back(turn.*member);
  return Median(std::move(values));
}

}  // namespace

StepTiming MedianTiming(std::span<const StepTiming> turns) {
  if (turns.empty()) return {};
  return {.input = turns.front().input,
          .samples_per_second = MedianMember(turns, &StepTiming::samples_per_second),
          .step_seconds = MedianMember(turns, &StepTiming::step_seconds),
          .input_wait_seconds = MedianMember(turns, &StepTiming::input_wait_seconds),
          .exchange_wait_seconds = MedianMember(turns, &StepTiming::exchange_wait_seconds),
          .exchange_bytes = MedianMember(turns, &StepTiming::exchange_bytes),
          .copies = MedianMember(turns, &StepTiming::copies),
          .copy_bytes = MedianMember(turns, &StepTiming::copy_bytes),
          .copy_seconds = MedianMember(turns, &StepTiming::copy_seconds),
          .epoch_steps = MedianMember(turns, &StepTiming::epoch_steps)};
}

}  // namespace recpack::train
