#include "src/probe/report/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "recpack/base/error.h"
#include "tests/base/error_of.h"
#include "tests/probe/made_report.h"

namespace recpack::probe {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Change& FindChange(const Comparison& comparison, const std::string& what) {
  for (const Change& change : comparison.changes) {
    if (change.what == what) return change;
  }
  throw std::logic_error("no change of " + what);
}

TEST(Compare, DifferencesAddTheirErrorsSquared) {
  const Estimate difference = Difference({10, 7, 14}, {20, 16, 23});
  EXPECT_DOUBLE_EQ(difference.value, 10);
  EXPECT_DOUBLE_EQ(difference.low, 10 - std::hypot(4, 4));
  EXPECT_DOUBLE_EQ(difference.high, 10 + std::hypot(3, 3));
}

TEST(Compare, RatiosDoSoOnLogarithms) {
  const auto ratio = Ratio({2, 1, 4}, {8, 8, 8});
  ASSERT_TRUE(ratio);
  EXPECT_DOUBLE_EQ(ratio->value, 4);
  EXPECT_DOUBLE_EQ(ratio->low, 2);
  EXPECT_DOUBLE_EQ(ratio->high, 8);
  EXPECT_FALSE(Ratio({0, 0, 0}, {8, 8, 8}));
  EXPECT_FALSE(Ratio({8, 8, 8}, {0, 0, 1}));
}

TEST(Compare, IntervalsHoldTheTruthAsOftenAsTheySay) {
  constexpr int kRuns = 4000;
  std::mt19937 random(3);
  std::normal_distribution<double> noise;
  const auto estimate = [&](double truth, double deviation) {
    const double value = truth + deviation * noise(random);
    return Estimate{value, value - 1.96 * deviation, value + 1.96 * deviation};
  };
  int differences = 0, ratios = 0;
  for (int run = 0; run < kRuns; ++run) {
    const Estimate a = estimate(10, 0.5), b = estimate(12, 0.2);
    const Estimate difference = Difference(a, b);
    differences += difference.low <= 2 && 2 <= difference.high ? 1 : 0;
    const auto ratio = Ratio(a, b);
    ratios += ratio->low <= 1.2 && 1.2 <= ratio->high ? 1 : 0;
  }
  EXPECT_NEAR(differences, 0.95 * kRuns, 0.012 * kRuns);
  EXPECT_NEAR(ratios, 0.95 * kRuns, 0.012 * kRuns);
}

TEST(Compare, TheSameIsWithinError) {
  const Comparison comparison = CompareReports(Made({}), Made({}));
  EXPECT_NEAR(FindChange(comparison, "steps/s").change->value, 1, 1e-12);
  for (const Change& change : comparison.changes) EXPECT_FALSE(change.sure()) << change.what;
  EXPECT_THAT(comparison.unlike, IsEmpty());
  EXPECT_FALSE(IsSlower(comparison, 0));
}

TEST(Compare, WhatIsFasterIsFasterForSure) {
  const Comparison comparison = CompareReports(
      Made({.step = 2.0}),
      Made({.step = 1.6, .input = {0.01, 0, 0.02}, .bottleneck = Bottleneck::kModel}));
  const Change& rate = FindChange(comparison, "steps/s");
  EXPECT_NEAR(rate.a.value, 0.5, 1e-5);
  EXPECT_NEAR(rate.change->value, 1.25, 1e-5);
  EXPECT_TRUE(rate.sure());
  const Change& wait = FindChange(comparison, "waits for input");
  EXPECT_NEAR(wait.change->value, -0.19, 1e-9);
  EXPECT_TRUE(wait.sure());
  EXPECT_EQ(comparison.cause_a, "decode");
  EXPECT_EQ(comparison.cause_b, "model");
}

TEST(Compare, SlowerByMoreThanALimit) {
  const Comparison comparison = CompareReports(Made({.step = 2.0}), Made({.step = 2.2}));
  EXPECT_TRUE(IsSlower(comparison, 0.05));
  EXPECT_TRUE(IsSlower(comparison, 0.08));
  EXPECT_FALSE(IsSlower(comparison, 0.1));  // 9.1 %
  EXPECT_FALSE(IsSlower(CompareReports(Made({.step = 2.2}), Made({.step = 2.0})), 0));
}

// The interval does not depend on the unit: steps may take seconds.
TEST(Compare, HowLongStepsAreDoesNotNarrowTheInterval) {
  const auto rate = [](double step) {
    return FindChange(CompareReports(Made({.step = step, .jitter = 0.4}), Made({.step = step})),
                      "steps/s");
  };
  const Change fast = rate(0.01), slow = rate(20);
  EXPECT_LT(slow.a.low, slow.a.value);
  EXPECT_NEAR(slow.a.low * 20, fast.a.low * 0.01, 1e-9);
  EXPECT_NEAR(slow.a.high * 20, fast.a.high * 0.01, 1e-9);
  EXPECT_FALSE(slow.sure());
}

TEST(Compare, AFewUnlikeStepsHaveNoLeastMean) {
  KeptReport a = Made({});
  a.verdict.left_out = 0;
  a.steps = {{{.steps = 1, .step = 1e-3}, {.steps = 1, .step = 10}}};
  const Comparison comparison = CompareReports(a, Made({}));
  EXPECT_TRUE(std::isinf(FindChange(comparison, "steps/s").a.high));
  EXPECT_FALSE(FindChange(comparison, "steps/s").sure());
  EXPECT_FALSE(IsSlower(comparison, 0.05));
  EXPECT_THAT(CompareText(comparison), HasSubstr("no limit]"));
  EXPECT_TRUE(nlohmann::json::parse(CompareJson(comparison))["changes"][0]["a"]["high"].is_null());
}

TEST(Compare, WithoutStepsNothingIsSaidOfSpeed) {
  const Comparison comparison = CompareReports(Made({}), Made({.steps = 0}));
  EXPECT_THAT(comparison.changes, IsEmpty());
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("B has no steps")));
  EXPECT_EQ(ErrorOf([&] { IsSlower(comparison, 0.05); }).kind(), ErrorKind::kInvalidArgument);
}

TEST(Compare, SpeedIsKnownWhereWaitsAreNot) {
  KeptReport slow = Made({.step = 4.5});
  slow.verdict.band = Band::kUnknown;
  const Comparison comparison = CompareReports(Made({}), slow);
  EXPECT_TRUE(FindChange(comparison, "steps/s").sure());
  EXPECT_TRUE(IsSlower(comparison, 0.05));
  EXPECT_THROW(FindChange(comparison, "waits for input"), std::logic_error);
  EXPECT_THAT(comparison.notes, Contains("it is not known whether B waits for input"));
}

TEST(Compare, TheFirstStepsAreLeftOut) {
  KeptReport warm = Made({.steps = 1000});
  warm.steps[0][0].step = 1000;  // 10 steps, as many as the verdict left out
  EXPECT_FALSE(FindChange(CompareReports(Made({}), warm), "steps/s").sure());
}

TEST(Compare, SaysWhatElseIsNotTheSame) {
  KeptReport a = Made({}), b = Made({.gpus = 2});
  a.job.command = {"python", "train.py", "--batch-size", "32", "--epochs", "3"};
  b.job.command = {"python", "train.py", "--batch-size", "64", "--epochs", "3"};
  b.job.host = "n2";
  const Comparison comparison = CompareReports(a, b);
  std::vector<std::string> said;
  for (const Unlike& one : comparison.unlike) said.push_back(one.what + " " + one.a + " " + one.b);
  EXPECT_THAT(said, testing::ElementsAre("host n1 n2", "command --batch-size 32 --batch-size 64",
                                         "GPUs 1 2"));
}

TEST(Compare, ForPeopleAndPrograms) {
  KeptReport a = Made({.step = 2.0}), b = Made({.step = 1.6});
  a.stages = b.stages = {{.name = "decode", .share = 0.5}};
  b.job.command.emplace_back("");
  const Comparison comparison = CompareReports(a, b);
  const std::string text = CompareText(comparison);
  EXPECT_THAT(text, HasSubstr("B is faster"));
  EXPECT_THAT(text, HasSubstr("within error"));
  EXPECT_THAT(text, HasSubstr("x1.250 [1.2"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  const auto parsed = nlohmann::json::parse(CompareJson(comparison));
  EXPECT_EQ(parsed["changes"][0]["what"], "steps/s");
  EXPECT_TRUE(parsed["changes"][0]["sure"]);
  EXPECT_NEAR(parsed["changes"][0]["ratio"]["value"], 1.25, 1e-6);
  EXPECT_EQ(parsed["stages"][0]["name"], "decode");
}

}  // namespace
}  // namespace recpack::probe
