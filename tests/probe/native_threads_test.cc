#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/probe/causes/decide.h"
#include "src/probe/causes/rules.h"

namespace recpack::probe {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int kProcess = 7;
constexpr int kTrains = 8;  // the training thread

ThreadRates Thread(int number, const char* name, double share) {
  return {.thread = number, .process = kProcess, .name = name, .cpu_share = share};
}

// Steps that wait half of their time, for an unknown reason.
Evidence Waiting(std::vector<ThreadRates> threads) {
  TrainerSteps trainer{.process = kProcess, .lane = kTrains, .device_seen = true};
  for (int i = 0; i < 100; ++i) {
    trainer.steps.push_back({.number = static_cast<uint64_t>(i),
                             .begin = i * 1000,
                             .end = i * 1000 + 1000,
                             .input_wait = 500,
                             .uncovered_wait = 500,
                             .device = 500});
  }
  Evidence evidence{.trainers = {std::move(trainer)}};
  evidence.system = {.threads = std::move(threads)};
  evidence.system->allowed_cores = 4;
  for (const ThreadRates& thread : evidence.system->threads) {
    evidence.system->tree_cores += thread.cpu_share;
  }
  return evidence;
}

TEST(NativeThreads, TheCureSpeaksOfADataLoaderWhereThereIsOne) {
  Evidence evidence = Waiting({Thread(kTrains, "python", 0.9), Thread(9, "python", 0.7)});
  evidence.settings.push_back({.process = kProcess, .workers = 2});
  const Verdict verdict = Decide(evidence);
  EXPECT_THAT(verdict.cure, AllOf(HasSubstr("num_workers"), Not(HasSubstr("tf.data"))));
}

TEST(NativeThreads, AreNamedAndThePlaceStaysUnknown) {
  const Verdict verdict = Decide(Waiting({Thread(kTrains, "python", 0.9), Thread(9, "tf_data", 0.7),
                                          Thread(10, "tf_data", 0.8), Thread(11, "python", 0.1)}));
  EXPECT_EQ(verdict.band, Band::kHighly);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kUnknown);
  EXPECT_THAT(verdict.evidence, Contains(HasSubstr("ran 1.6 of 4 processors: tf_data 1.5 (2 "
                                                   "threads), python 0.1 (1 thread)")));
  EXPECT_THAT(verdict.cure, HasSubstr("num_parallel_calls"));
}

TEST(NativeThreads, OfAPipelineWithOneMapMayRunItsFunction) {
  Evidence evidence = Waiting({Thread(kTrains, "python", 0.4), Thread(9, "tf_data", 0.7)});
  evidence.settings = {{.process = kProcess,
                        .library = InputLibrary::kTfData,
                        .place = "/home/me/train.py:44",
                        .maps = 1}};
  const Verdict verdict = Decide(evidence);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kUnknown);
  ASSERT_TRUE(verdict.action);
  EXPECT_EQ(verdict.action->where, "train.py:44 (Dataset.map)");
  EXPECT_THAT(verdict.evidence, Contains(HasSubstr("tf_data 0.7 (1 thread)")));
  evidence.settings[0].maps = 2;  // either of them
  EXPECT_FALSE(Decide(evidence).action);
}

TEST(NativeThreads, ThatHaveAllProcessorsNeedMoreOfThemOrLessWork) {
  const Verdict verdict = Decide(
      Waiting({Thread(9, "a", 1), Thread(10, "a", 1), Thread(11, "a", 0.9), Thread(12, "b", 0.9)}));
  EXPECT_THAT(verdict.cure, AllOf(HasSubstr("less work a sample"), Not(HasSubstr("parallel"))));
}

TEST(NativeThreads, ThatHardlyRanWaitForSomething) {
  const Verdict verdict = Decide(Waiting({Thread(kTrains, "python", 0.5), Thread(9, "a", 0.01)}));
  EXPECT_THAT(verdict.evidence, Contains(HasSubstr("hardly ran: 0.01 processors")));
  EXPECT_THAT(verdict.cure, HasSubstr("py-spy dump --native"));
}

TEST(NativeThreads, WithoutSamplesNothingIsSaid) {
  Evidence evidence = Waiting({});
  evidence.system.reset();
  const Verdict verdict = Decide(evidence);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kUnknown);
  EXPECT_THAT(verdict.evidence, IsEmpty());
  EXPECT_EQ(verdict.cure, "");
}

}  // namespace
}  // namespace recpack::probe
