#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/probe/evidence/hook_samples.h"
#include "src/probe/share/hidden_ranks.h"

namespace recpack::probe {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TimedEvent Rank(int process, uint64_t rank, uint64_t size) {
  return {.event = {.kind = EventKind::kRange, .begin = 7, .end = 7, .value = size << 32 | rank},
          .process = process,
          .name = "rank"};
}

TEST(ReportedRanks, AreThoseOfProcessesOfSeveral) {
  ReportedRanks ranks;
  TimedEvent of_the_program = Rank(9, 5, 8);
  of_the_program.event.end = 8;
  ranks.Add({Rank(4, 1, 8), Rank(3, 0, 1), of_the_program});
  ASSERT_THAT(ranks.All(), SizeIs(1));
  EXPECT_EQ(ranks.All()[0].process, 4);
  EXPECT_EQ(ranks.All()[0].rank, 1u);
  EXPECT_EQ(ranks.All()[0].size, 8u);
}

TEST(GradientExchanges, AreMeansOfEachProcess) {
  const auto exchange = [](int process, int64_t wait, uint64_t passes) {
    return TimedEvent{
        .event = {.kind = EventKind::kRange, .begin = 100, .end = 100 + wait, .value = passes},
        .process = process,
        .name = "gradient exchange"};
  };
  GradientExchanges exchanges;
  exchanges.Add({exchange(4, 20, 70), exchange(4, 40, 90), exchange(3, 0, 50)});
  exchanges.Add({exchange(3, 8, 60)});
  const auto means = exchanges.Means();
  ASSERT_THAT(means, SizeIs(2));
  EXPECT_EQ(means[0].process, 3);
  EXPECT_EQ(means[0].steps, 1u);
  EXPECT_EQ(means[1].steps, 2u);
  EXPECT_EQ(means[1].wait, 30);
  EXPECT_EQ(means[1].passes, 80);
}

TEST(ReportedRanks, TrainersAreRanksOfOneJobWhereEachIsAnotherOne) {
  const std::vector<TrainerSteps> trainers = {{.process = 3}, {.process = 4}};
  const auto of = [&](uint32_t rank, uint32_t size) {
    return JobRanks(trainers, {{.process = 3, .rank = 0, .size = 2},
                               {.process = 4, .rank = rank, .size = size}});
  };
  ASSERT_THAT(of(1, 2), SizeIs(2));
  EXPECT_EQ(of(1, 2)[1].rank, 1u);
  EXPECT_THAT(of(0, 2), IsEmpty());
  EXPECT_THAT(of(1, 4), IsEmpty());
  EXPECT_THAT(JobRanks(trainers, {{.process = 3, .rank = 0, .size = 2}}), IsEmpty());
  EXPECT_THAT(JobRanks({{.process = 3}}, {{.process = 3, .rank = 0, .size = 2}}), IsEmpty());
}

}  // namespace
}  // namespace recpack::probe
