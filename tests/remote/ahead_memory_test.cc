// Tests the limit of what is fetched ahead.
#include "src/remote/store/ahead_memory.h"

#include <gtest/gtest.h>

#include <vector>

namespace recpack::remote {
namespace {

constexpr uint64_t kLeast = AheadMemory::kLeast;

uint64_t NothingUnderWay() { return 0; }

TEST(AheadMemory, RangesBeyondTheLimitWaitInOrder) {
  AheadMemory memory(NothingUnderWay);
  std::vector<uint64_t> called;
  const auto again = [&](uint64_t size) { called.push_back(size); };
  EXPECT_TRUE(memory.Take(kLeast - 10, again));
  EXPECT_TRUE(memory.Take(10, again));
  EXPECT_FALSE(memory.Take(20, again));
  EXPECT_FALSE(memory.Take(5, again));  // the one before it waits, too
  memory.Give(10);
  EXPECT_TRUE(called.empty());
  memory.Give(10);
  EXPECT_EQ(called, std::vector<uint64_t>({20}));
  memory.Give(kLeast - 20);
  EXPECT_EQ(called, std::vector<uint64_t>({20, 5}));
}

TEST(AheadMemory, WhatSomebodyWaitsForIsTakenBeyondTheLimit) {
  AheadMemory memory(NothingUnderWay);
  int called = 0;
  const auto again = [&](uint64_t) { ++called; };
  EXPECT_TRUE(memory.Take(kLeast, again));
  memory.TakeAnyway(100);
  EXPECT_FALSE(memory.Take(1, again));
  memory.Give(100);
  EXPECT_EQ(called, 0);
  memory.Give(kLeast);
  EXPECT_EQ(called, 1);
}

TEST(AheadMemory, GrowsWithWhatIsUnderWay) {
  uint64_t under_way = 0;
  AheadMemory memory([&] { return under_way; });
  std::vector<uint64_t> called;
  const auto again = [&](uint64_t size) { called.push_back(size); };
  EXPECT_TRUE(memory.Take(kLeast, again));
  EXPECT_FALSE(memory.Take(100, again));
  under_way = 50;
  memory.Give(0);  // looks again
  EXPECT_EQ(called, std::vector<uint64_t>({100}));
  EXPECT_FALSE(memory.Take(1, again));
  under_way = UINT64_MAX / 4;
  memory.Give(0);
  EXPECT_TRUE(memory.Take(AheadMemory::kMost - kLeast - 101, again));
  EXPECT_FALSE(memory.Take(1, again));  // there is a most
}

TEST(AheadMemory, HoldsWhatIsReadInAnOrderOfItsOwn) {
  AheadMemory memory(NothingUnderWay);
  memory.Ensure(2 * kLeast);
  memory.Ensure(kLeast);  // another loader's
  EXPECT_TRUE(memory.Take(2 * kLeast, [](uint64_t) {}));
  EXPECT_FALSE(memory.Take(1, [](uint64_t) {}));
}

TEST(AheadMemory, ARangeBeyondAllLimitsIsTakenAlone) {
  AheadMemory memory(NothingUnderWay);
  int called = 0;
  EXPECT_TRUE(memory.Take(1, [](uint64_t) {}));
  EXPECT_FALSE(memory.Take(kLeast + 1, [&](uint64_t) { ++called; }));
  memory.Give(1);
  EXPECT_EQ(called, 1);
}

}  // namespace
}  // namespace recpack::remote
