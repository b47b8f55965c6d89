#include "src/remote/http/traffic.h"

#include <gtest/gtest.h>

#include <thread>

#include "src/remote/http/fetch_waits.h"

namespace recpack::remote {
namespace {

uint64_t At(const Traffic& traffic, Wait wait) {
  return traffic.waits[static_cast<size_t>(wait)].load();
}

TEST(Traffic, IsThatOfTheThreadThatCountsIt) {
  Traffic own{}, inner{};
  const CountTraffic counts(own);
  Traffic::Add(TrafficOfThread().bytes, 5);
  {
    const CountTraffic others(inner);
    Traffic::Add(TrafficOfThread().bytes, 7);
  }
  std::thread([] { Traffic::Add(TrafficOfThread().bytes, 9); }).join();
  Traffic::Add(TrafficOfThread().bytes, 1);
  EXPECT_EQ(own.bytes, 6u);
  EXPECT_EQ(inner.bytes, 7u);
}

TEST(Traffic, AWaitIsSeenWhileItLasts) {
  Traffic traffic{};
  const CountTraffic counts(traffic);
  Waited waited;
  {
    const WaitSpan span(Wait::kTransfer, waited);
    EXPECT_EQ(traffic.waits_for, static_cast<uint64_t>(Wait::kTransfer));
    EXPECT_GT(traffic.since, 0u);
    EXPECT_EQ(At(traffic, Wait::kTransfer), 0u);
  }
  EXPECT_EQ(traffic.since, 0u);
  waited.Count();
  EXPECT_EQ(At(traffic, Wait::kTransfer), waited.total());
}

TEST(Traffic, WhoWaitsForAnothersFetchWaitsForTheSame) {
  Traffic traffic{};
  const CountTraffic counts(traffic);
  Waited waited;
  waited.times[0] = 300;
  waited.times[2] = 100;
  waited.CountAs(std::chrono::nanoseconds(40));
  EXPECT_EQ(At(traffic, Wait::kFirstByte), 30u);
  EXPECT_EQ(At(traffic, Wait::kThrottled), 10u);
  Waited{}.CountAs(std::chrono::nanoseconds(40));
  EXPECT_EQ(WaitedOfThread().total(), 40u);
}

TEST(FetchWaits, OfAStoreThatSlowsDownFirstBytesAreThrottling) {
  for (const bool slowed : {false, true}) {
    Traffic traffic{};
    const CountTraffic counts(traffic);
    {
      FetchWaits waits(slowed);
      waits.waited().times[static_cast<size_t>(Wait::kFirstByte)] = 20;
      waits.waited().times[static_cast<size_t>(Wait::kTransfer)] = 3;
    }
    EXPECT_EQ(At(traffic, Wait::kFirstByte), slowed ? 0u : 20u);
    EXPECT_EQ(At(traffic, Wait::kThrottled), slowed ? 20u : 0u);
    EXPECT_EQ(At(traffic, Wait::kTransfer), 3u);
  }
}

TEST(FetchWaits, WhatARejectedAnswerCostIsItsOwn) {
  Traffic traffic{};
  const CountTraffic counts(traffic);
  {
    FetchWaits waits(false);
    waits.waited().times[static_cast<size_t>(Wait::kFirstByte)] = 20;
    waits.CountRequest(Exchange({}), false);  // no answer
    waits.CountRequest(Exchange({}), true);
  }
  EXPECT_EQ(traffic.requests, 2u);
  EXPECT_EQ(traffic.retried, 1u);
  EXPECT_EQ(traffic.throttled, 0u);
  EXPECT_EQ(At(traffic, Wait::kRetry), 20u);
  EXPECT_EQ(At(traffic, Wait::kFirstByte), 0u);
}

}  // namespace
}  // namespace recpack::remote
