#include "src/probe/evidence/silence.h"

#include <gtest/gtest.h>

#include "src/probe/events/hook_ranges.h"

namespace recpack::probe {
namespace {

TimedEvent SilenceEvent(EventKind kind, int64_t begin, int64_t end, const char* name = "",
                        bool open = false) {
  return {.event = {.kind = kind, .open = open, .lane = 3, .begin = begin, .end = end},
          .process = 7,
          .name = name};
}

std::vector<TrainerSteps> Trainers() { return {TrainerSteps{.process = 7}}; }

TEST(SilenceDetector, LastsFromTheLastEventUntilTheProcessWasLastSeen) {
  SilenceDetector detector;
  detector.AddEvents(
      {SilenceEvent(EventKind::kStep, 0, 100), SilenceEvent(EventKind::kDevice, 50, 90)});
  detector.AddProcesses({{.process = 7}}, 400);
  detector.AddProcesses({{.process = 8}}, 900);
  const auto silence = detector.Find(Trainers());
  ASSERT_TRUE(silence);
  EXPECT_EQ(silence->since, 100);
  EXPECT_EQ(silence->until, 400);
  EXPECT_FALSE(silence->in_input);
}

TEST(SilenceDetector, IgnoresAProgramThatHasEnded) {
  SilenceDetector detector;
  detector.AddProcesses({{.process = 7}}, 90);
  detector.AddEvents({SilenceEvent(EventKind::kStep, 0, 100)});
  detector.AddProcesses({{.process = 7, .state = 'Z'}}, 500);
  EXPECT_FALSE(detector.Find(Trainers()));
  EXPECT_FALSE(SilenceDetector().Find(Trainers()));
}

TEST(SilenceDetector, IgnoresEventsOfTheHooksOwnThread) {
  SilenceDetector detector;
  detector.AddEvents({SilenceEvent(EventKind::kStep, 0, 100),
                      SilenceEvent(EventKind::kRange, 100, 900, kInterpreterLock)});
  detector.AddProcesses({{.process = 7}}, 1000);
  EXPECT_EQ(detector.Find(Trainers())->since, 100);
}

TEST(SilenceDetector, ReportsAnOpenWaitForInput) {
  SilenceDetector detector;
  detector.AddEvents({SilenceEvent(EventKind::kInputWait, 50, 0, "", true),
                      SilenceEvent(EventKind::kInputWait, 50, 60)});
  detector.AddProcesses({{.process = 7}}, 1000);
  EXPECT_FALSE(detector.Find(Trainers())->in_input);
  detector.AddEvents({SilenceEvent(EventKind::kInputWait, 100, 0, "", true)});
  EXPECT_TRUE(detector.Find(Trainers())->in_input);
  EXPECT_EQ(detector.Find(Trainers())->since, 100);
}

}  // namespace
}  // namespace recpack::probe
