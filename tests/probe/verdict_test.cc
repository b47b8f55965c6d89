#include "src/probe/verdict/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "src/probe/causes/decide.h"

namespace recpack::probe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int64_t kMs = 1'000'000;

struct Made {
  int64_t duration = 100, wait = 0, exchange = 0, device = 0;  // ms, of each step
};

TrainerSteps Trainer(const Made& of, int steps = 200, uint16_t device = 0) {
  TrainerSteps trainer{.process = 5, .lane = 5, .device = device, .device_seen = true};
  for (int i = 0; i < steps; ++i) {
    const int64_t begin = i * of.duration * kMs;
    trainer.steps.push_back({.number = static_cast<uint64_t>(i),
                             .begin = begin,
                             .end = begin + of.duration * kMs,
                             .input_wait = of.wait * kMs,
                             .uncovered_wait = of.wait * kMs,
                             .exchange = of.exchange * kMs,
                             .device = of.device * kMs});
  }
  return trainer;
}

// Two workers that spent a second on each of the given stages.
std::vector<LoaderSample> Loader(const std::vector<std::pair<Stage, int>>& seconds) {
  std::vector<LoaderSample> samples(2);
  for (size_t i = 0; i < 2; ++i) {
    LoaderStats& stats = samples[i].stats;
    samples[i] = {.time = static_cast<int64_t>(i) * 10'000 * kMs, .process = 5, .stats = {}};
    stats.workers.resize(2);
    stats.batches = 10 + 100 * i;
    if (i == 0) continue;
    for (WorkerStats& worker : stats.workers) {
      for (const auto& [stage, time] : seconds) {
        worker.stages[static_cast<size_t>(stage)].time = std::chrono::seconds(time);
      }
    }
  }
  return samples;
}

// Rates of threads that ran half of the time and waited as long for a processor.
SystemRates Taken() {
  SystemRates rates{.allowed_cores = 2};
  rates.threads = {{.thread = 9, .process = 5, .cpu_share = 0.5, .run_queue_wait_share = 0.5}};
  return rates;
}

TEST(Verdict, WithoutStepsNothingIsKnown) {
  const Verdict verdict = Decide({.unseen = {"no hook: not started by recprobe run"}});
  EXPECT_EQ(verdict.band, Band::kUnknown);
  EXPECT_THAT(verdict.notes, Contains(HasSubstr("no hook")));
}

TEST(Verdict, BandsAreThoseOfTensorFlowsProfiler) {
  EXPECT_EQ(Decide({.trainers = {Trainer({.wait = 3, .device = 97})}}).band, Band::kNotInput);
  EXPECT_EQ(Decide({.trainers = {Trainer({.wait = 7, .device = 93})}}).band, Band::kModerately);
  EXPECT_EQ(Decide({.trainers = {Trainer({.wait = 25, .device = 75})}}).band, Band::kHighly);
}

// As in a trace: the DataLoader's workers are not seen, and most of a step is the program's own.
TEST(Verdict, TheProgramsOwnWorkDoesNotStandForAnUnknownCauseOfWaits) {
  const Verdict verdict = Decide(
      {.trainers = {Trainer({.wait = 30, .device = 20})},
       .settings = {{.process = 5, .library = InputLibrary::kPyTorch, .workers_known = false}}});
  EXPECT_EQ(verdict.band, Band::kHighly);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kUnknown);
  EXPECT_THAT(verdict.evidence, Contains(HasSubstr("waits for the workers of a DataLoader")));
  ASSERT_TRUE(verdict.action);
  EXPECT_THAT(verdict.action->text, HasSubstr("recprobe run"));
}

TEST(Verdict, AnIntervalOnBothSidesOfALimitIsUndecided) {
  TrainerSteps trainer = Trainer({.device = 90});
  for (size_t i = 0; i < trainer.steps.size(); i += 20) {
    trainer.steps[i].uncovered_wait = trainer.steps[i].input_wait = 95 * kMs;
  }
  const Verdict verdict = Decide({.trainers = {trainer}});
  EXPECT_EQ(verdict.band, Band::kUndecided);
  EXPECT_LT(verdict.input_share.low, 0.05);
  EXPECT_GT(verdict.input_share.high, 0.05);
  EXPECT_THAT(verdict.notes, Contains("undecided: the interval reaches from not input-bound to "
                                      "moderately input-bound"));
}

TEST(Verdict, AFewStepsAreUndecided) {
  const Verdict verdict = Decide({.trainers = {Trainer({.wait = 50, .device = 50}, 8)}});
  EXPECT_EQ(verdict.band, Band::kUndecided);
  EXPECT_THAT(verdict.notes, Contains(HasSubstr("too few")));
}

TEST(Verdict, TheFirstStepsAreLeftOut) {
  TrainerSteps trainer = Trainer({.device = 100});
  trainer.steps[0].uncovered_wait = trainer.steps[0].duration();
  const Verdict verdict = Decide({.trainers = {trainer}});
  EXPECT_EQ(verdict.input_share.value, 0);
  EXPECT_EQ(verdict.left_out, 10u);
  EXPECT_EQ(verdict.steps, 190u);
}

TEST(Verdict, TheGainIsWhatTheWaitsCost) {
  const Verdict verdict = Decide({.trainers = {Trainer({.wait = 20, .device = 80})}});
  EXPECT_NEAR(verdict.gain.value, 0.25, 1e-9);
  EXPECT_NEAR(verdict.steps_per_second, 10, 1e-9);
  EXPECT_NEAR(verdict.breakdown.device, 0.8, 1e-9);
}

TEST(Verdict, TimeBesideTheStepsIsToldAndIsNoneOfThem) {
  TrainerSteps trainer = Trainer({.wait = 20, .device = 80});
  EXPECT_FALSE(Decide({.trainers = {trainer}}).beside);
  int64_t later = 0;
  for (size_t i = 0; i < trainer.steps.size(); ++i) {
    StepRecord& step = trainer.steps[i];
    if (i % 4 == 0) {
      step.beside = 4 * step.duration();
      step.evaluation_wait = 3 * step.duration();
      later += step.beside;
    }
    step.begin += later;
    step.end += later;
  }
  const Verdict verdict = Decide({.trainers = {trainer}});
  EXPECT_NEAR(verdict.gain.value, 0.25, 1e-9);
  EXPECT_NEAR(verdict.steps_per_second, 10, 1e-9);
  ASSERT_TRUE(verdict.beside);
  EXPECT_NEAR(verdict.beside->share, 0.5, 0.01);
  EXPECT_NEAR(verdict.beside->waits, 0.375, 0.01);
  EXPECT_THAT(
      VerdictText(verdict),
      HasSubstr(" % of the time (evaluations, checkpoints), 37.3 % waits for the input of"));
}

TEST(Verdict, TheStageThatTakesTheWorkersTimeIsTheBottleneck) {
  const std::pair<Stage, Bottleneck> cases[] = {
      {Stage::kInput, Bottleneck::kStorage},   {Stage::kRead, Bottleneck::kRead},
      {Stage::kParse, Bottleneck::kParse},     {Stage::kDecode, Bottleneck::kDecode},
      {Stage::kAugment, Bottleneck::kAugment}, {Stage::kFunction, Bottleneck::kFunction},
      {Stage::kBatch, Bottleneck::kBatch},     {Stage::kWrite, Bottleneck::kWrite}};
  for (const auto& [stage, bottleneck] : cases) {
    const Verdict verdict = Decide({.trainers = {Trainer({.wait = 40, .device = 60})},
                                    .loaders = Loader({{Stage::kRoom, 1}, {stage, 7}})});
    EXPECT_EQ(verdict.bottleneck, bottleneck) << StageName(stage);
    EXPECT_THAT(verdict.evidence, Contains(HasSubstr("87.5 % of their time")));
    EXPECT_THAT(verdict.cure, Not(IsEmpty()));
  }
}

TEST(Verdict, TellingTheKernelWhatWillBeReadWaitsForTheDisk) {
  Evidence evidence{.trainers = {Trainer({.wait = 40, .device = 60})},
                    .loaders = Loader({{Stage::kPlan, 9}, {Stage::kRead, 1}})};
  evidence.system = SystemRates{};
  evidence.system->processes = {
      {.process = 5, .read_bytes_per_second = 8e6, .read_chars_per_second = 1e7}};
  const Verdict verdict = Decide(evidence);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kStorage);
  EXPECT_THAT(verdict.evidence, Contains(HasSubstr("90.0 % of their time in stage plan")));
  evidence.system->processes[0].read_bytes_per_second = 0;
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kRead);
}

TEST(Verdict, WorkersThatWaitForRoomAreNotWhatIsWaitedFor) {
  const Verdict verdict = Decide({.trainers = {Trainer({.wait = 40, .device = 60})},
                                  .loaders = Loader({{Stage::kRoom, 8}, {Stage::kDecode, 2}})});
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kPrefetch);
}

TEST(Verdict, WhoTakesTheProcessorsIsNamedBeforeTheStageThatLacksThem) {
  Evidence evidence{.trainers = {Trainer({.wait = 40, .device = 60})},
                    .loaders = Loader({{Stage::kDecode, 8}}),
                    .system = Taken()};
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kDecode);
  evidence.system->others_cores = 1.1;
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kInterference);
  EXPECT_THAT(Decide(evidence).notes, Contains(HasSubstr("delay steps as well")));
  evidence.system->throttled_periods_share = 0.6;
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kQuota);
  evidence.loaders = Loader({{Stage::kInput, 8}});
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kStorage);
}

TEST(Verdict, ALoaderThatIsInTimeLacksNoProcessor) {
  Evidence evidence{.trainers = {Trainer({.device = 99})}, .system = Taken()};
  evidence.system->others_cores = 1.1;
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kInterference);  // the device may be a CPU
  evidence.system->threads[0].name = kLoaderThreadName;
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kModel);
  evidence.system->threads[0].name = "python";
  evidence.system->threads[0].process = 6;  // a DataLoader's worker
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kModel);
}

// A thread that is pinned, or whose quota is used up, waits while other processors are idle.
TEST(Verdict, OthersTakeNoProcessorsWhileManyAreIdle) {
  Evidence evidence{.trainers = {Trainer({.wait = 40, .device = 60})},
                    .loaders = Loader({{Stage::kDecode, 8}}),
                    .system = Taken()};
  evidence.system->allowed_cores = 256;
  evidence.system->tree_cores = 8;
  evidence.system->others_cores = 60;
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kDecode);
  evidence.system->others_cores = 240;
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kInterference);
}

TEST(Verdict, IoThatHoldsUpOtherProgramsIsNoneOfTheTrainings) {
  Evidence evidence{.trainers = {Trainer({.wait = 40, .device = 60})}, .system = SystemRates{}};
  evidence.system->pressure.io.some = 0.9;
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kStorage);
  evidence.system->cgroup_pressure.io.some = 0.01;
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kUnknown);
  evidence.system->cgroup_pressure.io.some = 0.6;
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kStorage);
}

TEST(Verdict, ThreadsThatHardlyWantAProcessorLackNone) {
  Evidence evidence{.trainers = {Trainer({.wait = 40, .device = 60})},
                    .loaders = Loader({{Stage::kFunction, 8}}),
                    .system = Taken()};
  evidence.system->others_cores = 2;
  evidence.system->threads[0].cpu_share = 0.01;  // it sleeps
  evidence.system->threads[0].run_queue_wait_share = 0.09;
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kFunction);
  evidence.loaders.clear();
  evidence.trainers = {Trainer({.device = 99})};
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kModel);
}

// Among several loaders, one that gave fewer batches does not count: it serves an evaluation.
TEST(Verdict, TheLoaderThatIsWaitedForIsTheOneLookedAt) {
  Evidence evidence{.trainers = {Trainer({.wait = 40, .device = 60})}};
  const std::pair<Stage, int> loaders[] = {
      {Stage::kDecode, 1}, {Stage::kFunction, 3}, {Stage::kParse, 9}};
  for (uint32_t number = 0; number < 3; ++number) {
    const auto& [stage, waited] = loaders[number];
    auto samples = Loader({{stage, 5}});
    for (LoaderSample& sample : samples) sample.stats.number = number;
    samples[1].stats.consumer_wait = std::chrono::seconds(waited);
    if (number == 2) samples[1].stats.batches = 30;
    evidence.loaders.insert(evidence.loaders.end(), samples.begin(), samples.end());
  }
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kFunction);
}

// Equal steps give the waits exactly, but not what a perfect input would save.
TEST(Verdict, AnIntervalIsNeverNarrowerThanWhatWaitsAreWorth) {
  const Verdict verdict = Decide({.trainers = {Trainer({.wait = 40, .device = 60})}});
  EXPECT_DOUBLE_EQ(verdict.input_share.low, 0.39);
  EXPECT_DOUBLE_EQ(verdict.input_share.high, 0.41);
  EXPECT_DOUBLE_EQ(verdict.gain.high, 0.41 / 0.59);
  EXPECT_EQ(Decide({.trainers = {Trainer({.device = 99})}}).input_share.low, 0);
}

TEST(Verdict, TheGainHasNoLimitWhereWaitsMayBeAllOfAStep) {
  const auto of = [](int wait, int device) {
    return Decide({.trainers = {Trainer({.duration = 1000, .wait = wait, .device = device})}});
  };
  const Verdict nearly = of(995, 5);
  EXPECT_EQ(nearly.input_share.high, 1);
  EXPECT_TRUE(std::isinf(nearly.gain.high));
  EXPECT_NEAR(nearly.gain.value, 199, 1);
  EXPECT_THAT(VerdictText(nearly), HasSubstr("without them: over 50 times as many"));
  EXPECT_THAT(VerdictJson(nearly), HasSubstr(R"("high":null)"));
  const Verdict all = of(1000, 0);
  EXPECT_TRUE(std::isinf(all.gain.value));
  EXPECT_THAT(VerdictText(all), HasSubstr("without them: over 50 times as many"));
}

TEST(Verdict, InputThatTheTrainingThreadMakesItself) {
  Evidence evidence{.trainers = {Trainer({.wait = 60, .device = 40})}, .system = SystemRates{}};
  evidence.system->threads = {{.thread = 5, .process = 5, .cpu_share = 0.98}};
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kUnknown);  // its work is unknown
  for (StepRecord& step : evidence.trainers[0].steps) step.busy_wait = 31 * kMs;
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kTrainingThread);
  evidence.system->threads[0].block_io_wait_share = 0.99;
  const Verdict both = Decide(evidence);  // in the background, the disk's part costs nothing either
  ASSERT_EQ(both.causes.size(), 2u);
  EXPECT_EQ(both.causes[0].bottleneck, Bottleneck::kTrainingThread);
  EXPECT_EQ(both.causes[1].bottleneck, Bottleneck::kStorage);
}

TEST(Verdict, TheInterpreterLockThatOtherThreadsHave) {
  Evidence evidence{.trainers = {Trainer({.wait = 60, .device = 40})},
                    .system = SystemRates{},
                    .locks = {{.process = 5, .seconds = 10, .held = 0.9}}};
  evidence.system->threads = {{.thread = 5, .process = 5, .cpu_share = 0.3},
                              {.thread = 6, .process = 5, .name = "logger", .cpu_share = 0.6}};
  const Verdict verdict = Decide(evidence);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kLock);
  EXPECT_THAT(verdict.evidence, Contains(HasSubstr("thread 6 (logger)")));
  evidence.trainers = {Trainer({.wait = 1, .device = 40})};
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kLock);
  EXPECT_THAT(Decide(evidence).notes, Contains(HasSubstr("waits for the lock as well")));
  // The training thread holds the lock itself, or no other thread runs.
  evidence.system->threads[0].cpu_share = 0.95;
  EXPECT_NE(Decide(evidence).bottleneck, Bottleneck::kLock);
  evidence.system->threads[0].cpu_share = 0.3;
  evidence.system->threads[1].cpu_share = 0.1;
  EXPECT_NE(Decide(evidence).bottleneck, Bottleneck::kLock);
}

TEST(Verdict, WithoutWaitsTheBandIsUnknownAndTheRestIsSaid) {
  TrainerSteps trainer = Trainer({.exchange = 50, .device = 40});
  trainer.waits_seen = false;
  const Verdict verdict = Decide({.trainers = {trainer}});
  EXPECT_EQ(verdict.band, Band::kUnknown);
  EXPECT_EQ(verdict.steps, 190u);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kExchange);
  EXPECT_THAT(verdict.notes, Contains(HasSubstr("input wait: unavailable")));
  // The rest of the time is unknown: it may be input.
  EXPECT_THAT(VerdictJson(verdict), HasSubstr("\"steps\":190"));
  EXPECT_THAT(VerdictJson(verdict), Not(HasSubstr("input_share")));
  trainer = Trainer({.device = 40});
  trainer.waits_seen = false;
  EXPECT_EQ(Decide({.trainers = {trainer}}).bottleneck, Bottleneck::kUnknown);
}

TEST(Verdict, WhyThereAreNoStepsIsSaidOnce) {
  const Verdict verdict = Decide({.no_steps = "the program has no loader"});
  EXPECT_THAT(verdict.notes,
              testing::ElementsAre("input wait: unavailable: the program has no loader"));
}

TEST(Verdict, WithoutStepsThePeriodOfTheDevicesWorkIsShown) {
  const Verdict verdict = Decide({.periods = {{"utilisation of GPU 0", 2.5, 0.05, 0.9}}});
  EXPECT_EQ(verdict.band, Band::kUnknown);
  ASSERT_TRUE(verdict.period);
  EXPECT_NEAR(verdict.steps_per_second, 0.4, 1e-9);
  EXPECT_THAT(VerdictText(verdict), HasSubstr("utilisation of GPU 0 repeats every 2.5 +- 0.05 s"));
  EXPECT_THAT(VerdictJson(verdict), HasSubstr("\"period\":{\"of\":\"utilisation of GPU 0\""));
}

TEST(Verdict, TheModelWhereTheDeviceIsBusy) {
  const Verdict verdict = Decide({.trainers = {Trainer({.wait = 1, .device = 97})}});
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kModel);
  EXPECT_THAT(verdict.cure, IsEmpty());
}

TEST(Verdict, TheHostWhereNothingElseIsBusy) {
  EXPECT_EQ(Decide({.trainers = {Trainer({.wait = 1, .device = 30})}}).bottleneck,
            Bottleneck::kHost);
}

TEST(Verdict, WhatTheDevicesDidIsNotGuessed) {
  TrainerSteps trainer = Trainer({.wait = 1});
  trainer.device_seen = false;
  const Verdict verdict = Decide({.trainers = {trainer}});
  EXPECT_TRUE(verdict.upper_bound);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kUnknown);
  EXPECT_THAT(verdict.notes, Contains(HasSubstr("not known")));
}

TEST(Verdict, WithoutAcceleratorsTheTrainingThreadIsTheDevice) {
  TrainerSteps trainer = Trainer({.wait = 1});
  trainer.device_seen = false;
  const Verdict verdict = Decide({.trainers = {trainer}, .accelerators = false});
  EXPECT_FALSE(verdict.upper_bound);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kModel);
  EXPECT_NEAR(verdict.breakdown.device, 0.99, 1e-9);
}

TEST(Verdict, CodeBesideAModelOnTheProcessorsIsTheHosts) {
  const auto decided = [](double own, int64_t wait) {
    TrainerSteps trainer = Trainer({.wait = wait});
    trainer.device_seen = false;
    Evidence evidence{.trainers = {trainer}, .accelerators = false};
    evidence.lines = {
        {.role = kTrainerRole, .file = "/a/t.py", .line = 6, .function = "log", .share = own},
        {.role = kTrainerRole,
         .phase = "model",
         .file = "/a/t.py",
         .line = 8,
         .function = "main",
         .share = 1 - own}};
    return Decide(evidence);
  };
  const Verdict verdict = decided(0.4, 1);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kHost);
  EXPECT_NEAR(verdict.breakdown.other, 0.4, 1e-9);
  EXPECT_NEAR(verdict.breakdown.device, 0.59, 1e-9);
  EXPECT_NEAR(*verdict.causes.at(0).saves, 0.4, 0.02);
  ASSERT_TRUE(verdict.action);
  EXPECT_EQ(verdict.action->where, "t.py:6 (log)");
  EXPECT_EQ(decided(0.2, 1).bottleneck, Bottleneck::kModel);
  const Verdict moderate = decided(0.4, 10);
  EXPECT_EQ(moderate.band, Band::kModerately);
  EXPECT_EQ(moderate.bottleneck, Bottleneck::kHost) << "what the waits are for is not known";
  EXPECT_EQ(moderate.line.value().function, "log");
}

// An interval that begins below the limit does not need a cause of waits.
TEST(Verdict, AnUndecidedShareDoesNotHideTheHost) {
  TrainerSteps trainer = Trainer({.wait = 5});
  trainer.device_seen = false;
  Evidence evidence{.trainers = {trainer}, .accelerators = false};
  evidence.lines = {
      {.role = kTrainerRole, .file = "/a/t.py", .line = 6, .function = "log", .share = 0.9}};
  const Verdict verdict = Decide(evidence);
  EXPECT_EQ(verdict.band, Band::kUndecided);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kHost);
}

// A training that waits is not limited by its model, nor by little code beside it.
TEST(Verdict, WaitsWithoutACauseAreNotTheModels) {
  const auto decided = [](double worker, double own) {
    TrainerSteps trainer = Trainer({.wait = 10});
    trainer.device_seen = false;
    Evidence evidence{.trainers = {trainer}, .accelerators = false};
    evidence.lines = {
        {.role = kWorkerRole,
         .phase = "transformation",
         .file = "/a/t.py",
         .line = 41,
         .function = "warp",
         .share = worker},
        {.role = kTrainerRole, .file = "/a/t.py", .line = 6, .function = "log", .share = own}};
    return Decide(evidence).bottleneck;
  };
  EXPECT_EQ(decided(0.9, 0.05), Bottleneck::kFunction);
  EXPECT_EQ(decided(0.05, 0.05), Bottleneck::kUnknown);
  EXPECT_EQ(decided(0.05, 0.5), Bottleneck::kHost);
}

// Waits for input may be among the steps.
TEST(Verdict, WithoutSeenWaitsTheStepIsNotTheModel) {
  TrainerSteps trainer = Trainer({});
  trainer.device_seen = false;
  trainer.waits_seen = false;
  const Verdict verdict = Decide({.trainers = {trainer}, .accelerators = false});
  EXPECT_EQ(verdict.band, Band::kUnknown);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kUnknown);
}

TEST(Verdict, OneRankThatAllWaitFor) {
  const Verdict by_input =
      Decide({.trainers = {Trainer({.exchange = 40, .device = 60}, 100, 0),
                           Trainer({.wait = 38, .exchange = 2, .device = 60}, 100, 1)}});
  EXPECT_EQ(by_input.band, Band::kHighly);
  EXPECT_NEAR(by_input.input_share.value, 0.38, 1e-9);
  EXPECT_EQ(by_input.rank, 1u);
  const Verdict by_work = Decide({.trainers = {Trainer({.exchange = 40, .device = 60}, 100, 0),
                                               Trainer({.exchange = 2, .device = 98}, 100, 1)}});
  EXPECT_EQ(by_work.band, Band::kNotInput);
  EXPECT_EQ(by_work.bottleneck, Bottleneck::kSlowRank);
  EXPECT_EQ(by_work.rank, 1u);
  EXPECT_THAT(by_work.evidence, Contains(HasSubstr("it computed 98.0 %")));
}

// Trainers that wait for the same loader count as one observation.
TEST(Verdict, TrainersThatWaitTogetherLeaveTheSameDoubt) {
  TrainerSteps trainer = Trainer({.device = 60}, 300);
  for (size_t i = 0; i < trainer.steps.size(); ++i) {
    StepRecord& step = trainer.steps[i];
    step.uncovered_wait = step.input_wait = static_cast<int64_t>((i * 7919) % 40) * kMs;
  }
  TrainerSteps other = trainer;
  other.device = 1;
  const Estimate one = Decide({.trainers = {trainer}}).input_share;
  const Estimate both = Decide({.trainers = {trainer, other}}).input_share;
  EXPECT_NEAR(both.value, one.value, 1e-12);
  EXPECT_NEAR(both.low, one.low, 1e-12);
  EXPECT_NEAR(both.high, one.high, 1e-12);
  EXPECT_LT(one.low, one.high);
}

TEST(Verdict, TrainersOfDifferentLengthsAllCount) {
  const Verdict verdict = Decide({.trainers = {Trainer({.wait = 20, .device = 80}, 110),
                                               Trainer({.wait = 60, .device = 40}, 60, 1)}});
  ASSERT_EQ(verdict.left_out, 3u);
  EXPECT_NEAR(verdict.input_share.value, (0.2 * 107 + 0.6 * 57) / 164, 1e-9);
}

// Moves the steps to `seconds` later and continues their numbers.
TrainerSteps Later(TrainerSteps trainer, int seconds, uint64_t number = 0) {
  for (StepRecord& step : trainer.steps) {
    step.begin += seconds * 1000 * kMs;
    step.end += seconds * 1000 * kMs;
    step.number += number;
  }
  return trainer;
}

TEST(Verdict, OfTrainingsOneAfterTheOtherTheLongestIsJudged) {
  const Made waits = {.wait = 40, .exchange = 10, .device = 50};
  const Made works = {.exchange = 10, .device = 90};
  TrainerSteps evaluation = Later(Trainer(works, 500), 300);
  evaluation.source = TrainerSteps::Source::kBetweenWaits;
  Evidence evidence{.trainers = {Trainer(works, 100), Trainer(works, 100, 1),
                                 Later(Trainer(waits, 200), 100, 100),
                                 Later(Trainer(waits, 200, 1), 100, 100),
                                 Later(Trainer(works, 5), 200), evaluation}};
  Evidence latest = evidence;
  SelectTraining(Training::kLongest, evidence);
  const Verdict verdict = Decide(evidence);
  EXPECT_EQ(verdict.band, Band::kHighly);
  EXPECT_NEAR(verdict.input_share.value, 0.4, 1e-9);
  EXPECT_EQ(verdict.steps, 190u);
  EXPECT_NEAR(verdict.steps_per_second, 20, 1e-9);
  EXPECT_THAT(verdict.notes, Contains(HasSubstr("4 loops of steps, one after the other")));
  SelectTraining(Training::kLatest, latest);
  ASSERT_EQ(latest.trainers.size(), 1u);
  EXPECT_EQ(latest.trainers[0].steps.size(), 500u);
}

// Two programs that train side by side.
TEST(Verdict, DevicesThatCountNoStepsAlikeAreNoTrainingWithoutWaits) {
  const Made waits = {.wait = 40, .exchange = 10, .device = 50};
  const Verdict verdict =
      Decide({.trainers = {Trainer(waits, 200), Later(Trainer(waits, 200, 1), 0, 1000)}});
  EXPECT_EQ(verdict.band, Band::kHighly);
  EXPECT_NEAR(verdict.input_share.value, 0.4, 1e-9);
  EXPECT_THAT(verdict.notes,
              Contains(HasSubstr("2 devices train together but have fewer than 10 step")));
}

TEST(Verdict, AStepGetsNoShorterThanTheMakingOfABatch) {
  Evidence evidence{.trainers = {Trainer({.device = 50})},
                    .loaders = Loader({{Stage::kFunction, 8}, {Stage::kRoom, 2}}),
                    .system = SystemRates{}};
  const Verdict verdict = Decide(evidence);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kHost);
  EXPECT_NEAR(*verdict.causes[0].saves, 0.2, 1e-9);
  evidence.loaders.clear();
  EXPECT_NEAR(*Decide(evidence).causes[0].saves, 0.5, 1e-9);
}

// A trace of PyTorch's profiler says whether the DataLoader has workers, and nothing of the
// machine.
TEST(Verdict, ATraceHasAdviceOnTheDataLoader) {
  Evidence evidence{.trainers = {Trainer({.wait = 60, .device = 40})},
                    .settings = {{.process = 1, .library = InputLibrary::kPyTorch}}};
  evidence.settings[0].process = evidence.trainers[0].process;
  Verdict verdict = Decide(evidence);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kTrainingThread);
  ASSERT_TRUE(verdict.action);
  EXPECT_THAT(verdict.action->text, HasSubstr("num_workers=0 -> 2 in DataLoader(...), as far as"));
  evidence.settings[0].workers_known = false;
  verdict = Decide(evidence);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kUnknown);
  ASSERT_TRUE(verdict.action);
  EXPECT_THAT(verdict.action->text, HasSubstr("raise num_workers"));
  evidence.settings.clear();
  EXPECT_FALSE(Decide(evidence).action);
}

// PyTorch's processes under torchrun: their waits for each other are not reported.
Evidence HiddenRanks(const Made& one, const Made& other) {
  Evidence evidence{
      .trainers = {Trainer(one), Trainer(other)},
      .ranks = {{.process = 5, .rank = 1, .size = 2}, {.process = 6, .rank = 0, .size = 2}},
      .accelerators = false};
  evidence.trainers[1].process = 6;
  for (TrainerSteps& trainer : evidence.trainers) trainer.device_seen = false;
  return evidence;
}

TEST(Verdict, AllRanksWaitForTheInputOfOne) {
  const Verdict verdict = Decide(HiddenRanks({.wait = 40}, {.wait = 1}));
  EXPECT_EQ(verdict.band, Band::kHighly);
  EXPECT_NEAR(verdict.input_share.value, 0.4, 1e-9);
  EXPECT_TRUE(verdict.upper_bound);
  EXPECT_EQ(verdict.rank, 1u);
  EXPECT_THAT(verdict.evidence, Contains(HasSubstr("rank 1 (process 5) waited 40.0 %")));
  EXPECT_THAT(verdict.notes, Contains(HasSubstr("2 processes train together")));
  EXPECT_THAT(verdict.notes, Not(Contains(HasSubstr("what the devices did"))));
}

// DistributedDataParallel measures its own passes and its wait for the others' gradients.
TEST(Verdict, TheRankThatTheOthersWaitForIsNamed) {
  Evidence evidence = HiddenRanks({}, {});
  evidence.exchanges = {{.process = 5, .steps = 3, .wait = 2e6, .passes = 80e6},
                        {.process = 6, .steps = 3, .wait = 40e6, .passes = 42e6}};
  const Verdict verdict = Decide(evidence);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kSlowRank);
  EXPECT_EQ(verdict.rank, 1u);
  EXPECT_NEAR(*verdict.causes[0].saves, 0.38, 1e-9);
  EXPECT_THAT(
      verdict.evidence,
      ElementsAre("trainer 1 (process 5) waited 2.0 % of its time for the others; they "
                  "waited 40.0 % for it",
                  "its forward and backward pass took 80.0 ms, those of the others 42.0 ms"));
  evidence.exchanges[0].passes = 50e6;
  EXPECT_THAT(Decide(evidence).evidence[1],
              HasSubstr("those of the others 42.0 ms: they wait for what it does between steps"));
  evidence.exchanges[1].steps = 2;  // too few to tell
  EXPECT_NE(Decide(evidence).bottleneck, Bottleneck::kSlowRank);
  evidence.exchanges[1] = {.process = 6, .steps = 3, .wait = 3e6, .passes = 79e6};
  EXPECT_NE(Decide(evidence).bottleneck, Bottleneck::kSlowRank);
}

// Metrics that all ranks exchange after each step, for example.
TEST(Verdict, WhatAllRanksRunBesideTheModelIsTheHosts) {
  const auto decided = [](double own, int64_t wait) {
    Evidence evidence = HiddenRanks({.wait = wait}, {.wait = wait});
    evidence.lines = {
        {.role = kTrainerRole, .file = "/a/t.py", .line = 6, .function = "log", .share = own}};
    return Decide(evidence);
  };
  for (const int64_t wait : {1, 8}) {
    const Verdict verdict = decided(0.3, wait);
    EXPECT_EQ(verdict.bottleneck, Bottleneck::kHost) << wait;
    EXPECT_NEAR(*verdict.causes.at(0).saves, 0.3, 1e-9);
    EXPECT_EQ(verdict.line.value().function, "log");
    EXPECT_FALSE(verdict.rank);
    EXPECT_EQ(decided(0.08, wait).bottleneck, Bottleneck::kUnknown) << wait;
  }
  Evidence slow = HiddenRanks({}, {});
  slow.lines = {
      {.role = kTrainerRole, .file = "/a/t.py", .line = 6, .function = "log", .share = 0.3}};
  slow.exchanges = {{.process = 5, .steps = 3, .wait = 2e6, .passes = 80e6},
                    {.process = 6, .steps = 3, .wait = 40e6, .passes = 42e6}};
  EXPECT_EQ(Decide(slow).bottleneck, Bottleneck::kSlowRank);
}

// The rank that the others wait for may wait for its input as well.
TEST(Verdict, ASlowRankIsNamedBesideItsInput) {
  const auto decided = [](int64_t wait, double others) {
    Evidence evidence = HiddenRanks({.wait = wait}, {.wait = 1});
    evidence.exchanges = {{.process = 5, .steps = 3, .wait = 2e6, .passes = 20e6},
                          {.process = 6, .steps = 3, .wait = others, .passes = 20e6}};
    evidence.settings = {
        {.process = 5, .library = InputLibrary::kPyTorch, .workers = 0, .place = "/a/t.py:3"}};
    for (StepRecord& step : evidence.trainers[0].steps) step.busy_wait = step.input_wait;
    return Decide(evidence);
  };
  const Verdict slow = decided(8, 50e6);
  EXPECT_EQ(slow.band, Band::kModerately);
  EXPECT_EQ(slow.bottleneck, Bottleneck::kSlowRank);
  EXPECT_NEAR(*slow.causes.at(0).saves, 0.5 - 0.02 - 0.07, 1e-9);
  EXPECT_EQ(slow.rank, 1u);
  // Its input is all that the others wait for.
  const Verdict input = decided(45, 50e6);
  EXPECT_EQ(input.bottleneck, Bottleneck::kTrainingThread);
  EXPECT_EQ(input.rank, 1u);
}

// Ranks that measured these waits in each eleventh step of 100 ms, and told of them a little apart.
Evidence Exchanging(const std::vector<int64_t>& one, const std::vector<int64_t>& other) {
  Evidence evidence = HiddenRanks({}, {});
  for (const auto* waits : {&one, &other}) {
    GradientExchange& exchange = evidence.exchanges.emplace_back();
    exchange.process = waits == &one ? 5 : 6;
    exchange.passes = 60e6;
    for (size_t i = 0; i < waits->size(); ++i) {
      if ((*waits)[i] == 0) continue;  // as of the hook
      const auto told = static_cast<int64_t>(i) * 1000 * kMs + (waits == &one ? 0 : 40 * kMs);
      exchange.waits.push_back({told, (*waits)[i] * kMs});
      exchange.wait += static_cast<double>((*waits)[i] * kMs);
      ++exchange.steps;
    }
    exchange.wait /= static_cast<double>(exchange.steps);
  }
  return evidence;
}

TEST(Verdict, WhatEachRankWaitsForAfterItsPassesIsTheExchange) {
  const Verdict verdict = Decide(Exchanging({32, 40, 30, 32}, {30, 30, 40, 32}));
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kExchange);
  EXPECT_FALSE(verdict.rank);
  EXPECT_THAT(verdict.evidence,
              Contains(HasSubstr("30.5 % of step time goes to the exchange of gradients")));
  EXPECT_NE(Decide(Exchanging({9, 9, 9, 9}, {9, 9, 9, 9})).bottleneck, Bottleneck::kExchange);
}

TEST(Verdict, RanksThatAreLastInTurnsDoNotWaitForTheExchange) {
  const Verdict verdict =
      Decide(Exchanging({60, 0, 60, 0, 60, 0, 60, 0}, {0, 60, 0, 60, 0, 60, 0, 60}));
  EXPECT_NE(verdict.bottleneck, Bottleneck::kExchange);
}

// One rank reads for all and passes batches on.
TEST(Verdict, RanksThatGetTheirBatchesFromAnotherOne) {
  Evidence evidence = HiddenRanks({.wait = 40}, {});
  evidence.trainers[1].waits_seen = false;
  const Verdict verdict = Decide(evidence);
  EXPECT_EQ(verdict.band, Band::kHighly);
  EXPECT_NEAR(verdict.input_share.value, 0.4, 1e-9);
  EXPECT_THAT(verdict.notes, Contains(HasSubstr("1 of 2 processes that train together called")));
  evidence.trainers[0].waits_seen = false;
  EXPECT_EQ(Decide(evidence).band, Band::kUnknown);
}

TEST(Verdict, RanksThatWaitInTurnsWaitForEachOther) {
  Evidence evidence = HiddenRanks({}, {});
  for (size_t i = 0; i < 200; ++i) {
    StepRecord& step = evidence.trainers[i % 2].steps[i];
    step.input_wait = step.uncovered_wait = 30 * kMs;
  }
  const Verdict verdict = Decide(evidence);
  EXPECT_NEAR(verdict.input_share.value, 0.3, 1e-9);
  EXPECT_FALSE(verdict.rank);
}

// A host that runs ahead pays in a later step for an earlier wait of another rank.
TEST(Verdict, StepsOfRanksThatRunAheadAreNotLongerThanTheTimeThatPasses) {
  Evidence evidence = HiddenRanks({}, {});
  for (size_t i = 20; i < 200; i += 20) {
    StepRecord& starves = evidence.trainers[0].steps[i];
    starves.input_wait = starves.uncovered_wait = 300 * kMs;
    starves.end = starves.begin + 400 * kMs;
    StepRecord& pays = evidence.trainers[1].steps[i + 10 < 200 ? i + 10 : i + 9];
    pays.end = pays.begin + 400 * kMs;
  }
  EXPECT_NEAR(Decide(evidence).input_share.value, 9 * 300 / (19'000.0 + 9 * 300), 0.002);
}

TEST(Verdict, AnEvaluationThatOtherRanksWaitForIsNoStep) {
  Evidence evidence = HiddenRanks({.wait = 40}, {});
  StepRecord& waits = evidence.trainers[1].steps[100];
  waits.end = waits.begin + 60'000 * kMs;
  EXPECT_NEAR(Decide(evidence).input_share.value, 0.4, 0.02);
}

TEST(Verdict, RanksThatCountTooFewStepsAlikeAreSaid) {
  Evidence evidence = HiddenRanks({.wait = 40}, {});
  for (StepRecord& step : evidence.trainers[1].steps) step.number += 1000;
  const Verdict verdict = Decide(evidence);
  EXPECT_NEAR(verdict.input_share.value, 0.2, 1e-9);
  EXPECT_TRUE(verdict.upper_bound);
  EXPECT_THAT(verdict.notes, Contains(HasSubstr("fewer than 10 step numbers in common")));
}

TEST(Verdict, WhatRanksWaitForEachOtherIsNotTakenForTheirWork) {
  const Verdict verdict = Decide(HiddenRanks({.wait = 1}, {.wait = 1}));
  EXPECT_EQ(verdict.band, Band::kNotInput);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kUnknown);
}

TEST(Verdict, ProgramsThatAreNoRanksOfOneJobCountEach) {
  Evidence evidence = HiddenRanks({.wait = 40}, {});
  evidence.ranks[1].rank = 1;  // of another job
  const Verdict verdict = Decide(evidence);
  EXPECT_NEAR(verdict.input_share.value, 0.2, 1e-9);
  EXPECT_THAT(verdict.notes, Contains(HasSubstr("not all ranks of one training")));
  evidence.ranks.clear();
  EXPECT_NEAR(Decide(evidence).input_share.value, 0.2, 1e-9);
}

TEST(Verdict, RanksThatAreNotWatchedMayBeTheOnesWaitedFor) {
  Evidence evidence = HiddenRanks({.wait = 1}, {});
  evidence.trainers.pop_back();
  evidence.ranks.pop_back();
  EXPECT_THAT(Decide(evidence).notes,
              Contains(HasSubstr("1 of 2 processes that train together is watched")));
  evidence.trainers[0] = Trainer({.wait = 1, .exchange = 1, .device = 98});
  EXPECT_THAT(Decide(evidence).notes, Not(Contains(HasSubstr("train together"))));
}

TEST(Verdict, RanksThatTellOfTheirExchangeAreJudgedByIt) {
  Evidence evidence =
      HiddenRanks({.wait = 30, .exchange = 10, .device = 60}, {.exchange = 1, .device = 99});
  EXPECT_EQ(Decide(evidence).input_share.value, 0);
}

TEST(Verdict, OfATrainingThatWasStartedAgainTheLastStartCounts) {
  Evidence evidence = HiddenRanks({.wait = 40}, {});
  for (size_t i = 0; i < 2; ++i) {
    TrainerSteps again = evidence.trainers[i];
    again.process += 10;
    for (StepRecord& step : again.steps) {
      step.begin += 100'000 * kMs;
      step.end += 100'000 * kMs;
    }
    ProcessRank rank = evidence.ranks[i];
    rank.process += 10;
    evidence.trainers.push_back(again);
    evidence.ranks.push_back(rank);
  }
  SelectTraining(Training::kLongest, evidence);
  const Verdict verdict = Decide(evidence);
  EXPECT_NEAR(verdict.input_share.value, 0.4, 1e-9);
  EXPECT_EQ(verdict.rank, 1u);
  EXPECT_THAT(verdict.notes, Contains(HasSubstr("2 processes that had ended before")));
}

TEST(Verdict, ARankIsNamedByItsOwnNumber) {
  Evidence evidence =
      HiddenRanks({.wait = 38, .exchange = 2, .device = 60}, {.exchange = 40, .device = 60});
  for (TrainerSteps& trainer : evidence.trainers) trainer.device_seen = true;
  evidence.ranks[0].rank = 11;
  evidence.ranks[1].rank = 12;
  EXPECT_EQ(Decide(evidence).rank, 11u);
}

TEST(Verdict, IoThatHoldsUpLessThanTheOneRankWaitsIsNotItsCause) {
  Evidence evidence = HiddenRanks({.wait = 40}, {});
  evidence.system.emplace();
  evidence.system->cgroup_pressure.io.some = 0.3;  // more than the mean rank's waits
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kUnknown);
  evidence.system->cgroup_pressure.io.some = 0.5;
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kStorage);
}

// Ranks that stall in turns: no GPU was idle for as long as all ranks waited together.
TEST(Verdict, AGpuIsHeldAgainstTheWaitsOfOneRank) {
  Evidence evidence = HiddenRanks({}, {});
  evidence.accelerators = true;
  for (size_t i = 0; i < 200; ++i) {
    StepRecord& step = evidence.trainers[i % 2].steps[i];
    step.input_wait = step.uncovered_wait = 40 * kMs;
  }
  evidence.gpus = {{.device = 0, .busy_in_steps = 15.5, .idle_in_steps = 3.9},
                   {.device = 1, .busy_in_steps = 15.5, .idle_in_steps = 3.9}};
  const Verdict verdict = Decide(evidence);
  EXPECT_EQ(verdict.band, Band::kHighly);
  EXPECT_THAT(verdict.notes, Not(Contains(HasSubstr("against it"))));
}

TEST(Verdict, WorkCoversNoMoreOfTheWaitsThanThereWasOfIt) {
  TrainerSteps trainer = Trainer({.wait = 90});  // 17.1 s of 19
  trainer.device_seen = false;
  Evidence evidence{.trainers = {trainer}};
  evidence.gpus = {{.device = 0, .busy_in_steps = 5, .idle_in_steps = 14}};
  const Verdict verdict = Decide(evidence);
  EXPECT_NEAR(verdict.input_share.low, 0.89 * (1 - 5 / 17.1), 0.01);
  EXPECT_EQ(verdict.band, Band::kHighly);
  EXPECT_THAT(verdict.notes, Contains(HasSubstr("against it")));
}

// The host runs ahead of a GPU: it waits for batches while the GPU has queued work.
TEST(Verdict, WaitsForLongerThanAGpuDidNothingAreCovered) {
  TrainerSteps trainer = Trainer({.wait = 60});  // 19 s of steps count
  trainer.device_seen = false;
  Evidence evidence{.trainers = {trainer}};
  evidence.gpus = {{.device = 0, .busy_in_steps = 18.6, .idle_in_steps = 0.4},
                   {.device = 1, .busy_in_steps = 18.8, .idle_in_steps = 0.2}};
  const Verdict verdict = Decide(evidence);
  EXPECT_EQ(verdict.band, Band::kUndecided);
  EXPECT_EQ(verdict.input_share.low, 0);
  EXPECT_THAT(verdict.notes, Contains(HasSubstr("GPU 0 was idle for only 0.4 s")));
  evidence.gpus[1].idle_in_steps = 12;  // of a rank that starves
  EXPECT_EQ(Decide(evidence).band, Band::kHighly);
  evidence.gpus[1].idle_in_steps = {};
  EXPECT_EQ(Decide(evidence).band, Band::kHighly);
}

TEST(Verdict, WaitsThatEndInMidRunAreSaid) {
  TrainerSteps trainer = Trainer({.device = 50});
  for (size_t i = 0; i < trainer.steps.size() / 2; ++i) {
    trainer.steps[i].input_wait = trainer.steps[i].uncovered_wait = 50 * kMs;
  }
  const Verdict verdict = Decide({.trainers = {trainer}});
  EXPECT_THAT(verdict.notes, Contains(HasSubstr("47.4 % of step time in the first half")));
  const Verdict steady = Decide({.trainers = {Trainer({.wait = 50})}});
  EXPECT_THAT(steady.notes, Not(Contains(HasSubstr("first half"))));
}

// A known fault of other tools: they count it.
TEST(Verdict, AWaitThatAnotherDevicesWorkHidesCostsNothing) {
  const Verdict verdict =
      Decide({.trainers = {Trainer({.wait = 30, .exchange = 10, .device = 60}, 100, 0),
                           Trainer({.exchange = 1, .device = 99}, 100, 1)}});
  EXPECT_EQ(verdict.input_share.value, 0);
  EXPECT_EQ(verdict.band, Band::kNotInput);
}

TEST(Verdict, WhatHiddenWaitsLeaveIdleIsNotTheHosts) {
  const Verdict verdict =
      Decide({.trainers = {Trainer({.wait = 55, .exchange = 5, .device = 40}, 100, 0),
                           Trainer({.exchange = 1, .device = 99}, 100, 1)}});
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kModel);
}

}  // namespace
}  // namespace recpack::probe
