#include "src/train/setup/step_timing.h"

#include <algorithm>

namespace recpack::train {
namespace {

double Median(std::span<const StepTiming> turns, double StepTiming::*member) {
  std::vector<double> values;
  for (const StepTiming& turn : turns) values.push_back(turn.*member);
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

}  // namespace

StepTiming MedianOf(std::span<const StepTiming> turns) {
  if (turns.empty()) return {};
  return {.input = turns.front().input,
          .samples_per_second = Median(turns, &StepTiming::samples_per_second),
          .step_seconds = Median(turns, &StepTiming::step_seconds),
          .input_wait_seconds = Median(turns, &StepTiming::input_wait_seconds),
          .exchange_wait_seconds = Median(turns, &StepTiming::exchange_wait_seconds),
          .exchange_bytes = Median(turns, &StepTiming::exchange_bytes)};
}

}  // namespace recpack::train
