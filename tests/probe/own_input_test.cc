#include "src/probe/causes/own_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/probe/causes/decide.h"

namespace recpack::probe {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kMillisecond = 1'000'000;
constexpr int kRanks = 8;
constexpr int kSlow = 3;

int ProcessOf(int rank) { return 10 + rank; }

// Ranks of one job, of which one waits for its workers, who resize for most of their time.
Evidence OneRankWaits(int64_t wait) {
  Evidence evidence;
  for (int rank = 0; rank < kRanks; ++rank) {
    const int process = ProcessOf(rank);
    TrainerSteps trainer{.process = process, .lane = static_cast<uint32_t>(process)};
    const int64_t own_wait = rank == kSlow ? wait : 0;
    for (int i = 0; i < 200; ++i) {
      trainer.steps.push_back({.number = static_cast<uint64_t>(i),
                               .begin = i * 100 * kMillisecond,
                               .end = (i + 1) * 100 * kMillisecond,
                               .input_wait = own_wait * kMillisecond,
                               .uncovered_wait = own_wait * kMillisecond});
    }
    evidence.trainers.push_back(trainer);
    evidence.ranks.push_back(
        {.process = process, .rank = static_cast<uint32_t>(rank), .size = kRanks});
    const double resizes = rank == kSlow ? 0.75 : 0.04;
    const double decodes = rank == kSlow ? 0.05 : 0.6;
    evidence.input_works.push_back(
        {.process = process + 100,
         .trainer = process,
         .seconds = 20,
         .threads = {{Bottleneck::kAugment, resizes}, {Bottleneck::kDecode, decodes}},
         .waiting = 1 - resizes - decodes});
    CodeLine line{.process = process + 100,
                  .role = kWorkerRole,
                  .phase = "__getitem__",
                  .file = "/a/train.py",
                  .line = 41,
                  .function = "resize",
                  .calling = {},
                  .made = {},
                  .seconds = 20 * resizes,
                  .share = resizes,
                  .waits = {}};
    evidence.lines_of[process] = {line};
    line.share = resizes / kRanks;
    if (rank == kSlow) evidence.lines = {line};
  }
  return evidence;
}

TEST(OwnInput, OfManyRanksTheWorkersOfTheOneThatWaitsAreJudged) {
  const Verdict verdict = Decide(OneRankWaits(60));
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kAugment);
  ASSERT_TRUE(verdict.line);
  EXPECT_EQ(verdict.line->line, 41);
  EXPECT_DOUBLE_EQ(verdict.line->share, 0.75);
  EXPECT_THAT(verdict.notes, Contains(HasSubstr("those of rank 3 and its workers")));
}

TEST(OwnInput, WithoutAKnownTrainerAllWorkersCount) {
  Evidence evidence = OneRankWaits(60);
  for (InputWork& work : evidence.input_works) work.trainer = 0;
  evidence.lines_of.clear();
  const Verdict verdict = Decide(evidence);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kDecode);
  EXPECT_FALSE(verdict.line);
  EXPECT_THAT(verdict.notes, Not(Contains(HasSubstr("its workers"))));
}

TEST(OwnInput, WhereNoneOrAllWaitMuchAllCount) {
  Evidence evidence = OneRankWaits(60);
  ASSERT_NE(FindSlowestInput(evidence, evidence.trainers), nullptr);
  EXPECT_EQ(FindSlowestInput(evidence, evidence.trainers)->process, ProcessOf(kSlow));
  for (TrainerSteps& trainer : evidence.trainers) {
    for (StepRecord& step : trainer.steps) step.uncovered_wait = 50 * kMillisecond;
  }
  EXPECT_EQ(FindSlowestInput(evidence, evidence.trainers), nullptr);
  evidence = OneRankWaits(3);
  EXPECT_EQ(FindSlowestInput(evidence, evidence.trainers), nullptr);
  EXPECT_EQ(FindSlowestInput(evidence, {}), nullptr);
}

TEST(OwnInput, ProgramsThatAreNoRanksOfOneJobCountTogether) {
  Evidence evidence = OneRankWaits(60);
  evidence.ranks.clear();
  EXPECT_EQ(FindSlowestInput(evidence, evidence.trainers), nullptr);
}

}  // namespace
}  // namespace recpack::probe
