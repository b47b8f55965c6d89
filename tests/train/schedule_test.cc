#include <gtest/gtest.h>

#include "src/train/layers/optimizer.h"

namespace recpack::train {
namespace {

TEST(LearningRate, RisesThenFallsAlongACosine) {
  const LearningRate rate{.peak = 0.4, .warmup_steps = 4, .steps = 12};
  EXPECT_DOUBLE_EQ(rate.At(0), 0.1);
  EXPECT_DOUBLE_EQ(rate.At(3), 0.4);
  EXPECT_DOUBLE_EQ(rate.At(4), 0.4);
  EXPECT_NEAR(rate.At(8), 0.2, 1e-12);
  EXPECT_NEAR(rate.At(12), 0, 1e-12);
  EXPECT_NEAR(rate.At(100), 0, 1e-12);
  EXPECT_DOUBLE_EQ((LearningRate{.peak = 1, .steps = 1}).At(0), 1);
}

}  // namespace
}  // namespace recpack::train
