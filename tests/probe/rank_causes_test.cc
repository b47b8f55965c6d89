#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "src/probe/causes/decide.h"
#include "src/probe/causes/rules.h"

namespace recpack::probe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kMillisecond = 1'000'000;

std::vector<Bottleneck> Names(const std::vector<Cause>& causes) {
  std::vector<Bottleneck> names;
  for (const Cause& cause : causes) names.push_back(cause.bottleneck);
  return names;
}

std::vector<Bottleneck> Ranked(std::vector<Cause> causes) {
  RankCauses(causes);
  return Names(causes);
}

// Steps of which `wait` of 100 ms are waits for input, of a process without our loader.
Evidence Waiting(int64_t wait) {
  TrainerSteps trainer{.process = 5, .lane = 5, .device_seen = true};
  for (int i = 0; i < 200; ++i) {
    trainer.steps.push_back({.number = static_cast<uint64_t>(i),
                             .begin = i * 100 * kMillisecond,
                             .end = (i + 1) * 100 * kMillisecond,
                             .input_wait = wait * kMillisecond,
                             .uncovered_wait = wait * kMillisecond,
                             .device = (100 - wait) * kMillisecond});
  }
  return {.trainers = {trainer}, .system = SystemRates{.allowed_cores = 2}};
}

// Two workers of a DataLoader that burn in a function for all of their time, beside hogs with which
// they share two processors.
Evidence BesideHogs(int64_t wait) {
  Evidence evidence = Waiting(wait);
  for (const int worker : {11, 12}) {
    evidence.input_works.push_back(
        {.process = worker, .seconds = 9, .threads = {{Bottleneck::kFunction, 1}}});
    evidence.system->threads.push_back(
        {.thread = worker, .process = worker, .cpu_share = 0.7, .run_queue_wait_share = 0.3});
  }
  evidence.system->tree_cores = 1.4;
  evidence.system->others_cores = 0.6;
  return evidence;
}

TEST(Pipeline, AStepLastsAsLongAsTheSlowerOfBoth) {
  const Pipeline pipeline{.wait = 0.6, .making = 1};
  EXPECT_NEAR(pipeline.Saved(1), 0.6, 1e-12);  // the step's own work is left
  EXPECT_NEAR(pipeline.Saved(0.25), 0.25, 1e-12);
  EXPECT_NEAR(pipeline.Saved(0, 0.3), 0, 1e-12);  // batches come no sooner
  EXPECT_NEAR(pipeline.Saved(0.9, 0.3), 0.9, 1e-12);
}

TEST(Pipeline, WithoutWorkersAStepLastsAsLongAsBothTogether) {
  const Pipeline pipeline{.wait = 0.6, .making = 0.6, .ahead = false};
  EXPECT_NEAR(pipeline.Saved(0.2), 0.2, 1e-12);
  EXPECT_NEAR(pipeline.Saved(0.2, 0.1), 0.3, 1e-12);
}

TEST(Pipeline, BatchesInBurstsAreLateInProportion) {
  const Pipeline pipeline{.wait = 0.2, .making = 0.6};
  EXPECT_NEAR(pipeline.Saved(0.3), 0.1, 1e-12);
  EXPECT_NEAR(pipeline.Saved(0.6), 0.2, 1e-12);
  EXPECT_NEAR(pipeline.Saved(0, 0.3), 0.2, 1e-12);  // then the makers are the slower ones
}

TEST(Pipeline, AWaitForAProcessorIsNoLateBatch) {
  const Pipeline pipeline{
      .wait = 0.2, .making = 1, .made_delayed = 0.5, .queued = 0.08, .queued_by_makers = 0.03};
  EXPECT_NEAR(pipeline.Saved(1), 0.15, 1e-12);  // other programs keep the thread waiting
  EXPECT_NEAR(pipeline.SavedWithoutOthers(), 0.17, 1e-12);  // its own workers do
  EXPECT_NEAR(Pipeline({.wait = 0.2, .making = 0.8, .queued = 0.2}).bursts(), 0, 1e-12);
}

TEST(RankCauses, WhatSavesMostComesFirst) {
  EXPECT_THAT(Ranked({{.bottleneck = Bottleneck::kInterference, .saves = 0.3},
                      {.bottleneck = Bottleneck::kFunction, .saves = 0.8},
                      {.bottleneck = Bottleneck::kDecode, .saves = 0.5}}),
              ElementsAre(Bottleneck::kFunction, Bottleneck::kDecode, Bottleneck::kInterference));
}

TEST(RankCauses, OfTwoThatSaveTheSameTheOneFromOutsideComesFirst) {
  EXPECT_THAT(Ranked({{.bottleneck = Bottleneck::kFunction, .saves = 0.40, .weight = 1},
                      {.bottleneck = Bottleneck::kWorkers, .saves = 0.41},
                      {.bottleneck = Bottleneck::kInterference, .saves = 0.38}}),
              ElementsAre(Bottleneck::kInterference, Bottleneck::kFunction, Bottleneck::kWorkers));
}

TEST(RankCauses, OnlyTheFirstMaySaveLittle) {
  EXPECT_THAT(Ranked({{.bottleneck = Bottleneck::kParse, .saves = 0.03},
                      {.bottleneck = Bottleneck::kDecode, .saves = 0.06}}),
              ElementsAre(Bottleneck::kDecode));
}

TEST(RankCauses, ASettingIsTheActionWhereItSavesAsMuch) {
  std::vector<Cause> causes = {
      {.bottleneck = Bottleneck::kFunction, .saves = 0.6, .cure = "faster", .where = "train.py:12"},
      {.bottleneck = Bottleneck::kWorkers, .saves = 0.58, .cure = "more"}};
  EXPECT_EQ(ChooseAction(causes)->text, "more");
  causes[1].saves = 0.4;
  const Action action = *ChooseAction(causes);
  EXPECT_EQ(ActionText(action), "faster; expected: 2.50 times as fast; at train.py:12");
  EXPECT_EQ(ChooseAction({{.bottleneck = Bottleneck::kModel, .saves = 0}}), std::nullopt);
}

// The training thread wants a processor for a quarter of the time and gets it for a tenth, as
// others use 1.5 of 2.
TEST(Interval, AWaitForAProcessorThatOthersUseMayBeLeft) {
  Evidence evidence = Waiting(40);
  const Estimate alone = Decide(evidence).input_share;
  evidence.system->threads = {
      {.thread = 5, .process = 5, .cpu_share = 0.1, .run_queue_wait_share = 0.15}};
  evidence.system->tree_cores = 0.5;
  evidence.system->others_cores = 1.5;
  const Estimate beside = Decide(evidence).input_share;
  const double sleeps = 1 - 0.1 / 0.6, others = 0.75;
  EXPECT_NEAR(beside.low, 0.4 - std::hypot(0.4 - alone.low, 0.15 * sleeps * others), 1e-9);
  EXPECT_EQ(beside.value, alone.value);
  EXPECT_EQ(beside.high, alone.high);
  // It makes its batches itself, and waits for a processor in the midst of that.
  for (StepRecord& step : evidence.trainers[0].steps) step.busy_wait = step.input_wait;
  EXPECT_EQ(Decide(evidence).input_share.low, alone.low);
}

TEST(RankCauses, ASlowFunctionIsNotHiddenByHogs) {
  const Verdict verdict = Decide(BesideHogs(88));
  EXPECT_THAT(Names(verdict.causes), ElementsAre(Bottleneck::kFunction, Bottleneck::kInterference));
  EXPECT_NEAR(*verdict.causes[0].saves, 0.88, 1e-9);
  EXPECT_NEAR(*verdict.causes[1].saves, 0.3, 1e-9);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kFunction);
  EXPECT_THAT(VerdictText(verdict),
              HasSubstr("1. user function                88.0 % of step time, "
                        "8.33 times as fast"));
  EXPECT_THAT(VerdictJson(verdict), HasSubstr(R"("cause":"processors taken by others")"));
}

TEST(RankCauses, HogsAreNamedWhereWithoutThemTheInputIsInTime) {
  EXPECT_THAT(Names(Decide(BesideHogs(25)).causes),
              ElementsAre(Bottleneck::kInterference, Bottleneck::kFunction));
}

// Workers of a DataLoader that sleep in a function, beside idle processors.
Evidence OfSleepers(int64_t wait, const InputSettings& settings) {
  Evidence evidence = BesideHogs(wait);
  for (ThreadRates& thread : evidence.system->threads) {
    thread.cpu_share = 0.05;
    thread.run_queue_wait_share = 0;
  }
  evidence.system->tree_cores = 0.1;
  evidence.system->others_cores = 0;
  evidence.settings = {settings};
  return evidence;
}

TEST(LoaderSettings, TooFewWorkersAreNamedWithTheNumberThatIsEnough) {
  const InputSettings two{.process = 5, .library = InputLibrary::kPyTorch, .workers = 2};
  const Verdict verdict = Decide(OfSleepers(60, two));
  EXPECT_THAT(Names(verdict.causes), ElementsAre(Bottleneck::kFunction, Bottleneck::kWorkers));
  EXPECT_EQ(verdict.action->text, "num_workers=2 -> 6 in DataLoader(...)");
  EXPECT_NEAR(*verdict.action->saves, 0.6, 1e-9);
}

TEST(LoaderSettings, MoreWorkersDoNotHelpWhereNoProcessorIsIdle) {
  Evidence evidence = BesideHogs(60);
  evidence.settings = {{.process = 5, .library = InputLibrary::kPyTorch, .workers = 2}};
  EXPECT_THAT(Names(Decide(evidence).causes), Not(testing::Contains(Bottleneck::kWorkers)));
}

TEST(LoaderSettings, HaveTheNamesOfTheProgramsLibrary) {
  InputSettings settings{
      .process = 5, .library = InputLibrary::kHuggingFace, .workers = 2, .prefetch = 2};
  EXPECT_EQ(Decide(OfSleepers(60, settings)).action->text,
            "dataloader_num_workers=2 -> 6 in TrainingArguments(...)");
  settings.library = InputLibrary::kTfData;
  const Verdict verdict = Decide(OfSleepers(60, settings));
  EXPECT_THAT(verdict.action->text, HasSubstr("num_parallel_calls=tf.data.AUTOTUNE"));
  EXPECT_THAT(Names(verdict.causes), ElementsAre(Bottleneck::kFunction));
}

TEST(LoaderSettings, WithoutWorkersTheTrainingThreadMakesItsBatches) {
  Evidence evidence = Waiting(60);
  evidence.settings = {{.process = 5, .library = InputLibrary::kPyTorch, .workers = 0}};
  const Verdict verdict = Decide(evidence);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kTrainingThread);
  EXPECT_EQ(verdict.action->text, "num_workers=0 -> 2 in DataLoader(...)");
}

// A training on processors: 30 % of a step is its own, 70 % the making of its batch.
Evidence WithoutWorkers(int cores) {
  Evidence evidence = Waiting(70);
  evidence.accelerators = false;
  evidence.settings = {{.process = 5,
                        .library = InputLibrary::kPyTorch,
                        .workers = 0,
                        .place = "/home/me/train.py:12"}};
  evidence.system->allowed_cores = cores;
  for (StepRecord& step : evidence.trainers[0].steps) step.busy_wait = step.input_wait;
  evidence.input_works = {{.process = 5,
                           .seconds = 9,
                           .own = {{Bottleneck::kFunction, 0.6},
                                   {Bottleneck::kBatch, 0.05},
                                   {Bottleneck::kUnknown, 0.05}}}};
  return evidence;
}

TEST(TrainingThread, AFasterFunctionSavesMoreThanWorkersOnFewProcessors) {
  const Verdict verdict = Decide(WithoutWorkers(2));
  ASSERT_THAT(Names(verdict.causes),
              ElementsAre(Bottleneck::kFunction, Bottleneck::kTrainingThread));
  EXPECT_NEAR(*verdict.causes[0].saves, 0.6, 1e-9);
  EXPECT_NEAR(*verdict.causes[1].saves, 0.5, 1e-9);  // two processors share the work
  EXPECT_EQ(verdict.causes[1].cure, "num_workers=0 -> 2 in DataLoader(...)");
  EXPECT_EQ(verdict.causes[1].where, "train.py:12 (DataLoader)");
  EXPECT_EQ(verdict.action->bottleneck, Bottleneck::kFunction);
}

TEST(TrainingThread, WorkersSaveAllWaitsWhereThereAreProcessorsForThem) {
  const Verdict verdict = Decide(WithoutWorkers(16));
  ASSERT_THAT(Names(verdict.causes),
              ElementsAre(Bottleneck::kTrainingThread, Bottleneck::kFunction));
  EXPECT_NEAR(*verdict.causes[0].saves, 0.7, 1e-9);
  ASSERT_TRUE(verdict.action);
  EXPECT_EQ(verdict.action->bottleneck, Bottleneck::kTrainingThread);
  EXPECT_EQ(verdict.action->text, "num_workers=0 -> 3 in DataLoader(...)");
  EXPECT_EQ(verdict.action->where, "train.py:12 (DataLoader)");
}

TEST(TrainingThread, OnOneProcessorWorkersSaveNothing) {
  EXPECT_THAT(Names(Decide(WithoutWorkers(1)).causes), ElementsAre(Bottleneck::kFunction));
}

TEST(LoaderSettings, WorkersThatStartAgainInEachEpoch) {
  InputSettings settings{.process = 5, .library = InputLibrary::kPyTorch, .workers = 2};
  Evidence evidence = OfSleepers(1, settings);
  // Each tenth step waits for a start that takes nine steps.
  std::vector<StepRecord>& steps = evidence.trainers[0].steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    steps[i].begin += static_cast<int64_t>(i / 10) * 900 * kMillisecond;
    steps[i].end += static_cast<int64_t>((i + 1) / 10) * 900 * kMillisecond;
    if (i % 10 != 9) continue;
    steps[i].restart = 900 * kMillisecond;
    steps[i].input_wait = steps[i].uncovered_wait = 900 * kMillisecond;
  }
  const Verdict verdict = Decide(evidence);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kRestarts);
  EXPECT_NEAR(*verdict.causes[0].saves, 0.47, 0.02);
  EXPECT_EQ(verdict.action->text, "persistent_workers=False -> True in DataLoader(...)");
  evidence.settings[0].persistent = true;
  EXPECT_THAT(Names(Decide(evidence).causes), Not(testing::Contains(Bottleneck::kRestarts)));
  // They stay, but each loader is another one.
  evidence.settings[0].made = 16;
  evidence.settings[0].place = "/home/me/train.py:12";
  const Verdict anew = Decide(evidence);
  EXPECT_EQ(anew.bottleneck, Bottleneck::kRestarts);
  EXPECT_THAT(anew.action->text, HasSubstr("make the DataLoader once, before the loop"));
  EXPECT_EQ(anew.action->where, "train.py:12 (DataLoader)");
}

// Two devices of a process that share a loader, whose batches are always ready.
TEST(SharedLoader, DevicesThatWaitForASlowOneDoNotWaitForInput) {
  Evidence evidence = Waiting(40);
  evidence.trainers.push_back(Waiting(2).trainers[0]);
  evidence.trainers[0].device = 0;
  evidence.trainers[1].device = 1;
  evidence.loaders.resize(2);
  for (size_t i = 0; i < 2; ++i) {
    evidence.loaders[i] = {.time = static_cast<int64_t>(i) * 1000 * kMillisecond, .process = 5};
    LoaderStats& stats = evidence.loaders[i].stats;
    stats.workers.resize(1);
    stats.batches = 10 + 100 * i;
    stats.workers[0].stages[static_cast<size_t>(Stage::kRoom)].time = std::chrono::seconds(9 * i);
  }
  const Verdict verdict = Decide(evidence);
  EXPECT_EQ(verdict.band, Band::kNotInput);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kSlowRank);
  EXPECT_EQ(verdict.rank, 1u);
  EXPECT_THAT(verdict.notes, testing::Contains(HasSubstr("waited for the slowest device")));
}

TEST(Speedups, HaveALimit) {
  EXPECT_EQ(SpeedupText(0.5), "2.00 times as fast");
  EXPECT_EQ(SpeedupText(0.996), "over 50 times as fast");
  EXPECT_EQ(SpeedupText(1), "over 50 times as fast");
}

}  // namespace
}  // namespace recpack::probe
