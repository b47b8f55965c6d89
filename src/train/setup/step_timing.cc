#include "src/train/setup/step_timing.h"

#include <utility>
#include <vector>

#include "recpack/base/median.h"

namespace recpack::train {
namespace {

double MedianOfMember(std::span<const StepTiming> turns, double StepTiming::*member) {
  std::vector<double> values;
  for (const StepTiming& turn : turns) values.push_back(turn.*member);
  return Median(std::move(values));
}

}  // namespace

StepTiming MedianTiming(std::span<const StepTiming> turns) {
  if (turns.empty()) return {};
  return {.input = turns.front().input,
          .samples_per_second = MedianOfMember(turns, &StepTiming::samples_per_second),
          .step_seconds = MedianOfMember(turns, &StepTiming::step_seconds),
          .input_wait_seconds = MedianOfMember(turns, &StepTiming::input_wait_seconds),
          .exchange_wait_seconds = MedianOfMember(turns, &StepTiming::exchange_wait_seconds),
          .exchange_bytes = MedianOfMember(turns, &StepTiming::exchange_bytes)};
}

}  // namespace recpack::train
