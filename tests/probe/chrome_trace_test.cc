#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "src/probe/events/kept_events.h"
#include "src/probe/report/report.h"

namespace recpack::probe {
namespace {

using nlohmann::json;

TimedEvent TraceEvent(EventKind kind, int64_t begin, int64_t end, std::string name = {},
                      uint32_t lane = 1, uint16_t device = Event::kNoDevice) {
  Event event{.kind = kind, .device = device, .lane = lane, .begin = begin, .end = end};
  return {event, 5, std::move(name)};
}

std::vector<json> Written(const std::vector<TimedEvent>& events, const char* phase,
                          const Report& report = {.begin = 1000}) {
  std::vector<json> found;
  const json trace = json::parse(ChromeTrace(report, events, 0));
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == phase) found.push_back(event);
  }
  return found;
}

TEST(ChromeTrace, IsOfMicrosecondsSinceTheBeginning) {
  const auto events =
      Written({TraceEvent(EventKind::kDevice, 2500, 4501, "add<1>(\"x\")", 3, 0)}, "X");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0]["name"], "add<1>(\"x\")");
  EXPECT_EQ(events[0]["cat"], "device");
  EXPECT_EQ(events[0]["pid"], 5);
  EXPECT_DOUBLE_EQ(events[0]["ts"], 1.5);
  EXPECT_DOUBLE_EQ(events[0]["dur"], 2.001);
}

TEST(ChromeTrace, EventsBeforeTheBeginningHaveNegativeTimes) {
  EXPECT_DOUBLE_EQ(Written({TraceEvent(EventKind::kRange, 998, 1500, "r")}, "X")[0]["ts"], -0.002);
}

TEST(ChromeTrace, StepsWaitsAndStreamsHaveThreadsOfTheirOwnWithNames) {
  const std::vector<TimedEvent> events = {
      TraceEvent(EventKind::kStep, 1000, 2000), TraceEvent(EventKind::kInputWait, 1000, 1200),
      TraceEvent(EventKind::kDevice, 1200, 1900, "k", 7, 0),
      TraceEvent(EventKind::kDevice, 1200, 1900, "k", 8, 0),
      TraceEvent(EventKind::kHost, 1200, 1210, "cudaLaunchKernel")};
  std::map<int, std::string> names;
  for (const json& name : Written(events, "M")) {
    if (name["name"] == "thread_name") names[name["tid"]] = name["args"]["name"];
  }
  EXPECT_EQ(names.size(), 5u);
  for (const json& event : Written(events, "X")) EXPECT_TRUE(names.contains(event["tid"]));
}

// Checks what viewers rely on.
TEST(ChromeTrace, OnOneThreadEventsNestOrAreApart) {
  const std::vector<TimedEvent> events = {TraceEvent(EventKind::kRange, 1000, 5000, "outer"),
                                          TraceEvent(EventKind::kRange, 1500, 2000, "inner"),
                                          TraceEvent(EventKind::kRange, 4000, 6000, "across"),
                                          TraceEvent(EventKind::kRange, 5000, 7000, "next")};
  std::map<int, std::vector<std::pair<double, double>>> threads;
  for (const json& event : Written(events, "X")) {
    const double begin = event["ts"];
    threads[event["tid"]].emplace_back(begin, begin + event["dur"].get<double>());
  }
  EXPECT_EQ(threads.size(), 2u);
  for (const auto& [thread, spans] : threads) {
    for (const auto& [a, b] : spans) {
      for (const auto& [c, d] : spans) {
        EXPECT_FALSE(a < c && c < b && b < d) << a << " " << b << " " << c << " " << d;
      }
    }
  }
}

TEST(ChromeTrace, WhatHasBegunIsThereOnce) {
  TimedEvent begun = TraceEvent(EventKind::kInputWait, 1000, 0);
  begun.event.open = true;
  TimedEvent lasting = TraceEvent(EventKind::kInputWait, 3000, 0);
  lasting.event.open = true;
  const auto events = Written({begun, TraceEvent(EventKind::kInputWait, 1000, 2000), lasting,
                               TraceEvent(EventKind::kDevice, 3000, 4000, "", 2, 0)},
                              "X");
  ASSERT_EQ(events.size(), 3u);
  for (const json& event : events) {
    if (event["ts"] == 2.0 && event["cat"] == "input wait") {
      EXPECT_DOUBLE_EQ(event["dur"], 1.0);  // until the end of the last event
      EXPECT_EQ(event["args"]["ended"], "no");
    }
  }
}

TEST(ChromeTrace, TheTimelineIsCounters) {
  TimelineRecorder timeline;
  timeline.Add(1000, 2000, {{"cores", "core 1", "busy", "share", 0.5}});
  timeline.Add(2000, 3000, {});
  const auto counters = Written({}, "C", {.begin = 1000, .timeline = timeline.Collected()});
  ASSERT_EQ(counters.size(), 1u);
  EXPECT_EQ(counters[0]["name"], "cores: core 1 busy");
  EXPECT_DOUBLE_EQ(counters[0]["args"]["share"], 0.5);
}

TEST(ChromeTrace, OfNothingIsATraceStill) {
  const json trace = json::parse(ChromeTrace({}, {}, 12));
  EXPECT_TRUE(trace["traceEvents"].empty());
  EXPECT_EQ(trace["otherData"]["events_left_out"], "12");
}

TEST(KeptEvents, AreTheFirstAndTheLast) {
  KeptEvents kept(4);
  for (int64_t i = 0; i < 10; ++i) kept.Add({TraceEvent(EventKind::kRange, i, i + 1)});
  const auto begins = [](const std::vector<TimedEvent>& events) {
    std::vector<int64_t> all;
    for (const TimedEvent& timed : events) all.push_back(timed.event.begin);
    return all;
  };
  EXPECT_THAT(begins(kept.All()), testing::ElementsAre(0, 1, 8, 9));
  EXPECT_THAT(begins(kept.Latest()), testing::ElementsAre(8, 9));
  EXPECT_EQ(kept.left_out(), 6u);
  KeptEvents whole(4);
  for (int64_t i = 0; i < 4; ++i) whole.Add({TraceEvent(EventKind::kRange, i, i + 1)});
  EXPECT_THAT(begins(whole.Latest()), testing::ElementsAre(0, 1, 2, 3));
  KeptEvents none;
  none.Add({TraceEvent(EventKind::kRange, 0, 1)});
  EXPECT_TRUE(none.All().empty());
}

}  // namespace
}  // namespace recpack::probe
