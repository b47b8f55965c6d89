#include "src/probe/report/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/probe/made_report.h"

namespace recpack::probe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

Merge MergeOf(std::vector<KeptReport> reports) { return MergeReports({std::move(reports), {}}); }

// Rank 1 of 4 waits for its input 20 % of the time, and the others wait for it.
std::vector<KeptReport> OneWaits() {
  std::vector<KeptReport> ranks;
  for (int rank = 0; rank < 4; ++rank) {
    const bool slow = rank == 1;
    ranks.push_back(Made({.rank = rank,
                          .world_size = 4,
                          .input = slow ? Estimate{0.2, 0.18, 0.21} : Estimate{},
                          .exchange = slow ? 0.05 : 0.25,
                          .bottleneck = slow ? Bottleneck::kDecode : Bottleneck::kSlowRank}));
    ranks.back().path = "runs/rank" + std::to_string(rank) + "/report.json";
  }
  return ranks;
}

TEST(Merge, HoursOfAJobAndWhatItLost) {
  const Merge merge = MergeOf({Made({.gpus = 8})});
  ASSERT_THAT(merge.jobs, SizeIs(1));
  const MergedJob& job = merge.jobs[0];
  EXPECT_TRUE(job.gpus);
  EXPECT_NEAR(job.hours, 8, 1e-9);
  EXPECT_NEAR(job.lost->value, 8 * 0.2, 1e-6);
  EXPECT_NEAR(job.lost->low, 8 * 0.19, 1e-6);
  EXPECT_NEAR(job.lost->high, 8 * 0.22, 1e-6);
  EXPECT_EQ(job.cause, "decode");
  EXPECT_EQ(job.cure, "more loader threads");
  EXPECT_THAT(job.notes, IsEmpty());
  EXPECT_NEAR(merge.gpus.hours, 8, 1e-9);
}

TEST(Merge, ProgramsThatGoOnAreCountedAndNamed) {
  std::vector<KeptReport> ranks = OneWaits();
  ranks[0].job.running = ranks[2].job.running = true;
  KeptReport ended = Made({.name = "ended.py"});
  const Merge merge = MergeOf({ranks[0], ranks[1], ranks[2], ranks[3], ended});
  EXPECT_EQ(merge.running(), 2);
  EXPECT_THAT(merge.jobs[0].notes, Contains(HasSubstr("2 of its programs go on")));
  EXPECT_THAT(MergeText(merge), HasSubstr("\n2 programs go on\n"));
  EXPECT_EQ(nlohmann::json::parse(MergeJson(merge))["running"], 2);
  EXPECT_THAT(MergeText(MergeOf({ended})), Not(HasSubstr("on\n")));
}

TEST(Merge, TimeOutsideOfStepsIsNotLost) {
  const Merge merge = MergeOf({Made({.seconds = 3600, .step = 1.8})});
  EXPECT_NEAR(merge.jobs[0].hours, 1, 1e-9);
  EXPECT_NEAR(merge.jobs[0].lost->value, 0.5 * 0.2, 1e-6);
}

TEST(Merge, WithoutGpusItCountsDevices) {
  KeptReport report = Made({.gpus = 0});
  report.steps.push_back(report.steps.front());
  const Merge merge = MergeOf({report});
  EXPECT_FALSE(merge.jobs[0].gpus);
  EXPECT_NEAR(merge.jobs[0].hours, 2, 1e-9);
  EXPECT_NEAR(merge.devices.lost.value, 2 * 0.2, 1e-6);
  EXPECT_EQ(merge.gpus.hours, 0);
}

TEST(Merge, TheGreatestLossComesFirstAndTheUnknownLast) {
  const Merge merge =
      MergeOf({Made({.name = "none", .steps = 0}), Made({.name = "some"}),
               Made({.name = "much", .gpus = 4}), Made({.name = "fine", .input = {0, 0, 0}})});
  std::vector<std::string> names;
  for (const MergedJob& job : merge.jobs) names.push_back(job.name);
  EXPECT_THAT(names, ElementsAre("much", "some", "fine", "none"));
  EXPECT_EQ(merge.unknown, 1u);
  EXPECT_NEAR(merge.gpus.hours, 7, 1e-9);
  EXPECT_NEAR(merge.gpus.known, 6, 1e-9);
  EXPECT_FALSE(merge.jobs[3].lost);
}

TEST(Merge, RanksThatGoInStepLoseWhatTheSlowestWaitsFor) {
  const Merge merge = MergeOf(OneWaits());
  ASSERT_THAT(merge.jobs, SizeIs(1));
  const MergedJob& job = merge.jobs[0];
  EXPECT_THAT(job.ranks, ElementsAre(0, 1, 2, 3));
  EXPECT_NEAR(job.hours, 4, 1e-9);
  // The step is ready at 0.95 of its time, without input waits at 0.75.
  EXPECT_NEAR(job.lost->value, 4 * 0.2, 1e-6);
  EXPECT_NEAR(job.lost->low, 4 * 0.18, 1e-6);
  EXPECT_NEAR(job.lost->high, 4 * 0.2, 1e-6);
  EXPECT_EQ(job.slow_rank, 1);
  EXPECT_EQ(job.cause, "decode");
  EXPECT_THAT(job.notes, Contains(HasSubstr("rank 1 (n1) waited 5.0 % of its time")));
}

TEST(Merge, AWaitThatAnotherRanksWorkHidesCostsNothing) {
  std::vector<KeptReport> ranks = OneWaits();
  // Rank 2 computes all the time.
  ranks[2].verdict.breakdown = {.exchange = 0.01, .device = 0.99};
  const MergedJob job = MergeOf(ranks).jobs[0];
  EXPECT_EQ(job.lost->value, 0);
  EXPECT_EQ(job.slow_rank, 2);
  EXPECT_EQ(job.cure, "more loader threads");
}

TEST(Merge, RanksThatDoNotExchangeLoseEachItsOwn) {
  std::vector<KeptReport> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    ranks.push_back(Made({.rank = rank,
                          .world_size = 2,
                          .launch = "x",
                          .input = rank == 0 ? Estimate{} : Estimate{0.4, 0.3, 0.5}}));
  }
  const Merge merge = MergeOf(ranks);
  ASSERT_THAT(merge.jobs, SizeIs(1));
  EXPECT_NEAR(merge.jobs[0].lost->value, 0.4, 1e-6);
  EXPECT_FALSE(merge.jobs[0].slow_rank);
}

// PyTorch's processes do not report their waits for each other.
TEST(Merge, WhatRanksMayLoseTogetherIsSaid) {
  std::vector<KeptReport> ranks = OneWaits();
  for (KeptReport& rank : ranks) rank.verdict.breakdown.exchange = 0;
  const Merge merge = MergeOf(ranks);
  EXPECT_NEAR(merge.jobs[0].lost->value, 0.2, 1e-6);
  EXPECT_THAT(merge.jobs[0].notes, Contains(HasSubstr("up to 0.80 h are lost")));
  for (KeptReport& rank : ranks) rank.verdict.input_share = {0.2, 0.18, 0.21};
  EXPECT_THAT(MergeOf(ranks).jobs[0].notes, Not(Contains(HasSubstr("if they train together"))));
  for (KeptReport& rank : ranks) rank.verdict.input_share = {};
  ranks[1].verdict.input_share = {0.04, 0.03, 0.05};
  EXPECT_THAT(MergeOf(ranks).jobs[0].notes, Not(Contains(HasSubstr("if they train together"))));
}

TEST(Merge, RanksAreJoinedByLaunch) {
  std::vector<KeptReport> ranks = OneWaits();
  for (size_t i = 0; i < ranks.size(); ++i) ranks[i].job.launch = i < 2 ? "a" : "b";
  const Merge merge = MergeOf(ranks);
  ASSERT_THAT(merge.jobs, SizeIs(2));
  EXPECT_THAT(merge.jobs[0].ranks, ElementsAre(0, 1));
  EXPECT_THAT(merge.jobs[0].notes, Contains(HasSubstr("2 of 4 ranks")));
}

TEST(Merge, CommandsOfRanksMayDiffer) {
  for (const bool named : {true, false}) {
    std::vector<KeptReport> ranks = OneWaits();
    for (KeptReport& rank : ranks) {
      const std::string number = std::to_string(*rank.job.rank);
      if (named) {
        rank.job.launch = "a";
        rank.job.command.push_back("--log=" + number);
      } else if (number == "0") {
        rank.job.command.insert(rank.job.command.end(), {"--local_rank", number});
      } else {
        rank.job.command.push_back("--local-rank=" + number);
      }
    }
    EXPECT_THAT(MergeOf(ranks).jobs, SizeIs(1)) << named;
  }
  std::vector<KeptReport> ranks = OneWaits();
  ranks[2].job.command.push_back("--seed=2");
  EXPECT_THAT(MergeOf(ranks).jobs, SizeIs(2)) << "no launcher says that they are of one launch";
}

TEST(Merge, RanksOfOtherFoldersAreOfOtherJobs) {
  std::vector<KeptReport> ranks = OneWaits();
  ranks[3].path = "others/rank3/report.json";
  EXPECT_THAT(MergeOf(ranks).jobs, SizeIs(2));
}

// The clock of the second host is a day ahead.
TEST(Merge, ASecondRunOfTheSameRanksIsAnotherJob) {
  std::vector<KeptReport> ranks;
  for (const int64_t run : {1, 0}) {
    for (int rank = 0; rank < 2; ++rank) {
      ranks.push_back(Made({.rank = rank, .world_size = 2, .launch = "localhost:29500"}));
      *ranks.back().job.begin += (run * 600 + rank * 86'400) * 1'000'000'000;
      ranks.back().job.process = static_cast<int>(1000 * run + rank);
      ranks.back().path = "run" + std::to_string(run) + "-" + std::to_string(rank);
    }
  }
  const Merge merge = MergeOf(ranks);
  ASSERT_THAT(merge.jobs, SizeIs(2));
  EXPECT_THAT(merge.jobs[0].reports, ElementsAre("run0-0", "run0-1"));
  EXPECT_THAT(merge.jobs[1].reports, ElementsAre("run1-0", "run1-1"));
}

TEST(Merge, SaysWhatStandsAgainstIt) {
  KeptReport report = Made({});
  report.job.exit_code = 1;
  report.verdict.upper_bound = true;
  const MergedJob job = MergeOf({report}).jobs[0];
  EXPECT_THAT(job.notes, Contains(HasSubstr("ended with an error")));
  EXPECT_THAT(job.notes, Contains(HasSubstr("upper bound")));
}

TEST(Merge, ForPeopleAndPrograms) {
  std::vector<KeptReport> reports = OneWaits();
  reports.push_back(Made({.name = std::string(60, 'x') + "\n", .steps = 0}));
  const Merge merge = MergeReports({reports, {{"c/report.json", "is not a report of recprobe"}}});
  const std::string text = MergeText(merge);
  EXPECT_THAT(text, HasSubstr("rank 1: decode"));
  EXPECT_THAT(text, HasSubstr("0.80 [0.72, 0.80]"));
  EXPECT_THAT(text, HasSubstr("c/report.json: is not a report of recprobe"));
  EXPECT_THAT(text, HasSubstr("1 job with unknown loss"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  const auto json = nlohmann::json::parse(MergeJson(merge));
  EXPECT_EQ(json["jobs"].size(), 2u);
  EXPECT_EQ(json["jobs"][0]["slow_rank"], 1);
  EXPECT_TRUE(json["jobs"][1]["lost"].is_null());
  EXPECT_EQ(json["left_out"][0]["path"], "c/report.json");
  EXPECT_NEAR(json["total"]["GPU-hours"]["lost"]["value"], 0.8, 1e-6);
}

}  // namespace
}  // namespace recpack::probe
