#include "src/probe/evidence/last_word.h"

#include <gtest/gtest.h>

#include "src/probe/evidence/lock_probes.h"

namespace recpack::probe {
namespace {

TimedEvent Of(EventKind kind, int64_t begin, int64_t end, const char* name = "",
              bool open = false) {
  return {.event = {.kind = kind, .open = open, .lane = 3, .begin = begin, .end = end},
          .process = 7,
          .name = name};
}

std::vector<TrainerSteps> Trainers() { return {TrainerSteps{.process = 7}}; }

TEST(LastWord, SilenceIsFromTheLastEventToTheLastSightOfTheProcess) {
  LastWord word;
  word.Add({Of(EventKind::kStep, 0, 100), Of(EventKind::kDevice, 50, 90)});
  word.Saw({{.process = 7}}, 400);
  word.Saw({{.process = 8}}, 900);
  const auto silence = word.Since(Trainers());
  ASSERT_TRUE(silence);
  EXPECT_EQ(silence->since, 100);
  EXPECT_EQ(silence->until, 400);
  EXPECT_FALSE(silence->in_input);
}

TEST(LastWord, AProgramThatEndsIsNotSilent) {
  LastWord word;
  word.Saw({{.process = 7}}, 90);
  word.Add({Of(EventKind::kStep, 0, 100)});
  word.Saw({{.process = 7, .state = 'Z'}}, 500);
  EXPECT_FALSE(word.Since(Trainers()));
  EXPECT_FALSE(LastWord().Since(Trainers()));
}

TEST(LastWord, TheHooksOwnThreadSaysNothing) {
  LastWord word;
  word.Add({Of(EventKind::kStep, 0, 100), Of(EventKind::kRange, 100, 900, kInterpreterLock)});
  word.Saw({{.process = 7}}, 1000);
  EXPECT_EQ(word.Since(Trainers())->since, 100);
}

TEST(LastWord, AWaitForInputThatHasNotEnded) {
  LastWord word;
  word.Add({Of(EventKind::kInputWait, 50, 0, "", true), Of(EventKind::kInputWait, 50, 60)});
  word.Saw({{.process = 7}}, 1000);
  EXPECT_FALSE(word.Since(Trainers())->in_input);
  word.Add({Of(EventKind::kInputWait, 100, 0, "", true)});
  EXPECT_TRUE(word.Since(Trainers())->in_input);
  EXPECT_EQ(word.Since(Trainers())->since, 100);
}

}  // namespace
}  // namespace recpack::probe
