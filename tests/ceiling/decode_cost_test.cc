#include "src/ceiling/decode_cost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace recpack::ceiling {
namespace {

constexpr DecodeCost kCost{.picture = 20e-6, .byte = 5e-9, .pixel = 1e-9};

DecodePoint PointOf(double bytes, double pixels, double error = 1) {
  return {bytes, pixels, error * kCost.Seconds(bytes, pixels)};
}

TEST(DecodeCost, ThreeKindsOfPicturesTellItsTermsApart) {
  const std::vector<DecodePoint> points = {PointOf(100'000, 187'500), PointOf(30'000, 187'500),
                                           PointOf(4'000, 7'000)};
  const DecodeCost fitted = FitDecodeCost(points);
  EXPECT_NEAR(fitted.picture, kCost.picture, 1e-8);
  EXPECT_NEAR(fitted.byte, kCost.byte, 1e-12);
  EXPECT_NEAR(fitted.pixel, kCost.pixel, 1e-12);
}

TEST(DecodeCost, NoTermIsBelowZeroHoweverNoisyTheMeasurement) {
  for (const double error : {0.3, 0.8, 1.2, 3.0}) {
    const std::vector<DecodePoint> points = {PointOf(100'000, 187'500, error),
                                             PointOf(30'000, 187'500),
                                             PointOf(4'000, 7'000, 1 / error)};
    const DecodeCost fitted = FitDecodeCost(points);
    EXPECT_GE(std::min({fitted.picture, fitted.byte, fitted.pixel}), 0) << error;
    EXPECT_GT(fitted.Seconds(100'000, 187'500), 0) << error;
  }
}

TEST(DecodeCost, OneKindOfPicturesIsStillPassedThrough) {
  const std::vector<DecodePoint> points = {PointOf(100'000, 187'500)};
  EXPECT_NEAR(FitDecodeCost(points).Seconds(100'000, 187'500), points[0].seconds, 1e-9);
  EXPECT_EQ(FitDecodeCost({}).Seconds(1, 1), 0);
}

}  // namespace
}  // namespace recpack::ceiling
