#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/probe/causes/rules.h"
#include "src/probe/evidence/hook_samples.h"
#include "tests/probe/second.h"

namespace recpack::probe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TimedEvent Told(int process, const std::string& kind, int64_t begin, double threads) {
  Event event{.kind = EventKind::kRange, .begin = begin, .end = begin + kSecond};
  event.value = static_cast<uint64_t>(threads * 1e6);
  return {.event = event, .process = process, .name = "input: " + kind};
}

TEST(InputSamples, AreMeansOverTheTimeThatWasLookedAt) {
  InputSamples samples;
  samples.Add({Told(7, "decode", 0, 0.9), Told(7, "waiting", 0, 0.1), Told(9, "decode", 0, 0.5)});
  samples.Add({Told(7, "decode", kSecond, 0.5), Told(7, "other", kSecond, 0.5)});
  TimedEvent another = Told(7, "decode", 2 * kSecond, 1);
  another.name = "decode";  // the program's own
  samples.Add({another});
  const std::vector<InputWork> works = samples.Works();
  ASSERT_EQ(works.size(), 2u);
  EXPECT_EQ(works[0].process, 7);
  EXPECT_DOUBLE_EQ(works[0].seconds, 2);
  EXPECT_DOUBLE_EQ(works[0].waiting, 0.05);
  EXPECT_THAT(works[0].threads,
              ElementsAre(Pair(Bottleneck::kUnknown, 0.25), Pair(Bottleneck::kDecode, 0.7)));
  EXPECT_THAT(works[1].threads, ElementsAre(Pair(Bottleneck::kDecode, 0.5)));
}

TEST(InputSamples, OfTheTrainingThreadAreApart) {
  InputSamples samples;
  samples.Add({Told(7, "own decode", 0, 0.5), Told(7, "own other", 0, 0.1),
               Told(7, "own decode", kSecond, 0.3)});
  const std::vector<InputWork> works = samples.Works();
  ASSERT_EQ(works.size(), 1u);
  EXPECT_THAT(works[0].own, ElementsAre(Pair(Bottleneck::kUnknown, testing::DoubleEq(0.05)),
                                        Pair(Bottleneck::kDecode, testing::DoubleEq(0.4))));
  EXPECT_THAT(works[0].threads, testing::IsEmpty());
  EXPECT_FALSE(IsBusy(works[0]));
}

TimedEvent Settings(const std::string& name, uint64_t value) {
  return {.event = {.kind = EventKind::kRange, .begin = 5, .end = 5, .value = value},
          .process = 7,
          .name = name};
}

TEST(ReportedSettings, AreThoseOfTheLatestRecord) {
  ReportedSettings reported;
  reported.Add({Settings("input settings\t/home/a b/train.py:12",
                         (uint64_t{1} << 40) | (uint64_t{1} << 34) | (uint64_t{3} << 16) | 2)});
  ASSERT_EQ(reported.All().size(), 1u);
  EXPECT_EQ(reported.All()[0].place, "/home/a b/train.py:12");
  EXPECT_EQ(reported.All()[0].made, 1u);
  EXPECT_EQ(reported.All()[0].prefetch, 3u);
  reported.Add({Settings("input settings", (uint64_t{1} << 40) | (uint64_t{8} << 34) | 2),
                Settings("input settings\t", 0), Settings("other", 7)});
  EXPECT_EQ(reported.All()[0].made, 1u);  // of an unknown library
  reported.Add({Settings("input settings", (uint64_t{1} << 40) | (uint64_t{8} << 34) | 2)});
  EXPECT_EQ(reported.All()[0].made, 8u);
  EXPECT_EQ(reported.All()[0].place, "");
  EXPECT_FALSE(reported.All()[0].pinned);
  reported.Add({Settings("input settings\tfit.py:3", (uint64_t{2} << 40) | 2)});
  EXPECT_EQ(reported.All()[0].maps, 2u);
  EXPECT_EQ(reported.All()[0].workers, 0u);
}

// The first cause that is found in a training that only waits.
Cause Named(const std::vector<InputWork>& works, std::optional<SystemRates> system = {}) {
  const Evidence evidence{.system = std::move(system), .input_works = works};
  const Verdict verdict;
  const std::vector<TrainerSteps> trainers;
  const Situation situation{evidence, trainers, verdict, nullptr, {.wait = 1}};
  Found found;
  InputWorkInPython(situation, found);
  RankCauses(found.causes);
  return found.causes.empty() ? Cause() : found.causes.front();
}

TEST(InputWorkPlace, IsWhatTheThreadsAreAtMost) {
  const Cause cause = Named(
      {{.process = 1, .seconds = 9, .threads = {{Bottleneck::kFunction, 0.8}}, .waiting = 0.2},
       {.process = 2,
        .seconds = 9,
        .threads = {{Bottleneck::kFunction, 0.4}, {Bottleneck::kDecode, 0.6}}}});
  EXPECT_EQ(cause.bottleneck, Bottleneck::kFunction);
  EXPECT_THAT(cause.evidence, Contains(HasSubstr("worked 90.0 % of their time")));
}

// Idle workers: those of an evaluation's loader (persistent_workers), or of ranks whose batches are
// ready.
TEST(InputWorkPlace, IsNotHiddenByWorkersThatHaveNothingToDo) {
  const InputWork idle{.process = 1, .seconds = 9, .waiting = 1};
  const InputWork busy{.process = 2, .seconds = 9, .threads = {{Bottleneck::kDecode, 1}}};
  EXPECT_EQ(Named({idle, idle, idle, busy}).bottleneck, Bottleneck::kDecode);
}

// A DataLoader without persistent_workers restarts its workers each epoch.
TEST(InputWorkPlace, WorkersThatAreStartedAnewCountOneAfterTheOther) {
  const InputWork epoch{.seconds = 2, .threads = {{Bottleneck::kDecode, 1}}};
  const Cause cause = Named({epoch, epoch, epoch, epoch, epoch}, SystemRates{.seconds = 10});
  EXPECT_THAT(cause.evidence, Contains(HasSubstr("1.0 such threads")));
}

TEST(InputWorkPlace, IsNotKnownOfThreadsThatMostlyWait) {
  EXPECT_EQ(Named({}).bottleneck, Bottleneck::kUnknown);
  EXPECT_EQ(
      Named({{.seconds = 9, .threads = {{Bottleneck::kDecode, 0.4}}, .waiting = 0.6}}).bottleneck,
      Bottleneck::kUnknown);
  // A function that a library calls from time to time.
  EXPECT_EQ(Named({{.seconds = 9, .threads = {{Bottleneck::kFunction, 0.3}}}}).bottleneck,
            Bottleneck::kUnknown);
  EXPECT_EQ(Named({{.seconds = 9, .threads = {{Bottleneck::kUnknown, 1}}}}).bottleneck,
            Bottleneck::kUnknown);
}

}  // namespace
}  // namespace recpack::probe
