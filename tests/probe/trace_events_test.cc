#include "src/probe/events/trace_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "src/base/format.h"
#include "tests/probe/whole_trace.h"

namespace recpack::probe {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TimedEvent Range(int64_t begin, const std::string& name) {
  return {.event = {.begin = begin, .end = begin + 1}, .process = 1, .name = name};
}

auto Members(const TimedEvent& timed) {
  const Event& event = timed.event;
  return std::make_tuple(event.kind, event.device, event.lane, event.name, event.begin, event.end,
                         event.value, timed.process, timed.name);
}

TEST(TraceEvents, ThoseOnTheDiskAreSortedWithThoseInMemory) {
  std::mt19937 random(1);
  TraceEvents events(64);
  std::vector<TimedEvent> added;
  for (uint64_t i = 0; i < 10'000; ++i) {
    // Many begin at the same time, and stay in the order in which they are added.
    TimedEvent timed = Range(static_cast<int64_t>(random() % 500), format("name {}", i % 17));
    timed.event.kind = i % 2 == 0 ? EventKind::kRange : EventKind::kStep;
    timed.event.lane = static_cast<uint32_t>(i % 5);
    timed.event.name = static_cast<uint32_t>(i % 2);
    timed.event.value = i;
    timed.process = static_cast<int>(i % 3);
    events.Add(timed);
    added.push_back(timed);
  }
  std::ranges::stable_sort(added, {}, [](const TimedEvent& timed) { return timed.event.begin; });
  EXPECT_EQ(events.size(), 10'000u);
  EXPECT_EQ(events.first(), 0);
  EXPECT_EQ(events.last(), 500);
  const std::vector<TimedEvent> sorted = AllOf(events);
  ASSERT_EQ(sorted.size(), added.size());
  for (size_t i = 0; i < sorted.size(); ++i) ASSERT_EQ(Members(sorted[i]), Members(added[i])) << i;
}

TEST(TraceEvents, BatchesAreLimited) {
  TraceEvents events;
  for (size_t i = 0; i < 2 * TraceEvents::kBatch + 1; ++i) events.Add(Range(0, ""));
  std::vector<size_t> sizes;
  events.ForBatches([&](const std::vector<TimedEvent>& batch) { sizes.push_back(batch.size()); });
  EXPECT_THAT(sizes, ElementsAre(TraceEvents::kBatch, TraceEvents::kBatch, 1u));
}

TEST(TraceEvents, WithoutAnyNoBatchIsGiven) {
  TraceEvents events;
  EXPECT_TRUE(events.empty());
  EXPECT_EQ(events.first(), 0);
  EXPECT_EQ(events.last(), 0);
  EXPECT_THAT(AllOf(events), IsEmpty());
}

TEST(TraceEvents, DevicesGetTheProcessThatBecomesKnownLater) {
  TraceEvents events;
  TimedEvent kernel = Range(2, "kernel");
  kernel.event.device = 0;
  kernel.process = 0;
  events.Add(kernel);
  events.Add(Range(1, "call"));
  events.SetDeviceProcess(42);
  const std::vector<TimedEvent> all = AllOf(events);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].process, 1);
  EXPECT_EQ(all[1].process, 42);
}

}  // namespace
}  // namespace recpack::probe
