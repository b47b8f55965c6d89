#include "recpack/base/gain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "recpack/base/error.h"
#include "tests/base/gain_environment.h"

namespace recpack {
namespace {

using testing::HasSubstr;

std::vector<uint32_t> KindsOfRound(const GainPlan& plan, uint64_t round) {
  std::vector<uint32_t> kinds;
  for (uint64_t i = 0; i < GainPlan::kKinds; ++i) {
    const uint64_t number = 1 + round * GainPlan::kKinds + i;
    const auto block = plan.At(number * plan.block_steps());
    EXPECT_EQ(block.number, number);
    kinds.push_back(block.kind);
  }
  return kinds;
}

TEST(GainPlan, WarmsUpOnLiveBatches) {
  const GainPlan plan(7, 10);
  for (uint64_t step = 0; step < 10; ++step) {
    EXPECT_EQ(plan.At(step).number, 0U);
    EXPECT_EQ(plan.At(step).kind, 0U);
  }
  EXPECT_EQ(plan.At(10).number, 1U);
  EXPECT_EQ(plan.At(19).number, 1U);
  EXPECT_EQ(plan.At(20).number, 2U);
}

TEST(GainPlan, EachRoundHasEachKindOnceInAnOrderOfItsOwn) {
  const GainPlan plan(7, 8);
  std::set<std::vector<uint32_t>> orders;
  for (uint64_t round = 0; round < 400; ++round) {
    auto kinds = KindsOfRound(plan, round);
    orders.insert(kinds);
    std::ranges::sort(kinds);
    EXPECT_EQ(kinds, (std::vector<uint32_t>{0, 1, 2, 3}));
  }
  EXPECT_EQ(orders.size(), 24U) << "all orders come";
}

TEST(GainPlan, IsThatOfItsSeed) {
  const GainPlan one(7, 8), same(7, 8), other(8, 8);
  bool differs = false;
  for (uint64_t round = 0; round < 20; ++round) {
    EXPECT_EQ(KindsOfRound(one, round), KindsOfRound(same, round));
    differs |= KindsOfRound(one, round) != KindsOfRound(other, round);
  }
  EXPECT_TRUE(differs);
}

TEST(GainPlan, GoesThroughTheEnvironment) {
  EXPECT_FALSE(GainPlan::FromEnvironment());
  EXPECT_FALSE(IsGainRun());
  const GainPlan plan(123456789012345, 24);
  const GainEnvironment environment(plan.Text());
  EXPECT_TRUE(IsGainRun());
  const auto read = GainPlan::FromEnvironment();
  ASSERT_TRUE(read);
  EXPECT_EQ(read->Text(), plan.Text());
}

TEST(GainPlan, AnEmptyVariableIsNone) {
  const GainEnvironment environment("");
  EXPECT_FALSE(GainPlan::FromEnvironment());
  EXPECT_FALSE(IsGainRun());
}

TEST(GainPlan, RefusesWhatMakesNoSense) {
  for (const char* text : {"x", "1", "1:", ":24", "1:24x", "1:24:3", "-1:24", "1:7", "1:0",
                           "1:99999999999999", " 1:24"}) {
    const GainEnvironment environment(text);
    EXPECT_THROW(GainPlan::FromEnvironment(), Error) << text;
  }
}

TEST(GainMark, NamesAreReadAgain) {
  const GainMark mark{.kind = 2, .loader = 3, .batch_size = 128};
  const auto read = GainMark::Parse(mark.Name());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->kind, 2U);
  EXPECT_EQ(read->loader, 3U);
  EXPECT_EQ(read->batch_size, 128U);
}

TEST(GainMark, OtherNamesAreNone) {
  const std::string name = GainMark{.batch_size = 8}.Name();
  for (size_t length = 0; length + 1 < name.size(); ++length) {
    EXPECT_FALSE(GainMark::Parse(name.substr(0, length))) << name.substr(0, length);
  }
  for (const char* other : {"", "gain", "gain:5 loader 0 of 8", "gain:0 loader 0 of 8 ",
                            "gain:-1 loader 0 of 8", "again:0 loader 0 of 8"}) {
    EXPECT_FALSE(GainMark::Parse(other)) << other;
  }
}

}  // namespace
}  // namespace recpack
