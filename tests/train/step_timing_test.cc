#include "src/train/setup/step_timing.h"

#include <gtest/gtest.h>

namespace recpack::train {
namespace {

TEST(StepTiming, MediansAreOfEachNumberByItself) {
  const std::vector<StepTiming> turns = {
      {.samples_per_second = 1, .step_seconds = 9, .exchange_bytes = 4},
      {.samples_per_second = 5, .step_seconds = 2, .exchange_bytes = 4},
      {.samples_per_second = 3, .step_seconds = 4, .exchange_bytes = 6}};
  const StepTiming median = MedianTiming(turns);
  EXPECT_EQ(median.samples_per_second, 3);
  EXPECT_EQ(median.step_seconds, 4);
  EXPECT_EQ(median.exchange_bytes, 4);
}

TEST(StepTiming, OfAnEvenCountTheMiddleOfTheTwo) {
  const std::vector<StepTiming> turns = {
      {.input = InputKind::kCached, .samples_per_second = 8, .input_wait_seconds = 1},
      {.input = InputKind::kCached, .samples_per_second = 2, .input_wait_seconds = 2}};
  EXPECT_EQ(MedianTiming(turns).samples_per_second, 5);
  EXPECT_EQ(MedianTiming(turns).input_wait_seconds, 1.5);
  EXPECT_EQ(MedianTiming(turns).input, InputKind::kCached);
}

}  // namespace
}  // namespace recpack::train
