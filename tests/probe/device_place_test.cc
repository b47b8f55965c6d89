#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/probe/causes/decide.h"
#include "src/probe/causes/rules.h"
#include "tests/probe/second.h"

namespace recpack::probe {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kMs = 1'000'000;

// A hundred steps of 100 ms that end at 10 s; `step` has the parts of one step.
std::vector<TrainerSteps> Trainers(const StepRecord& step) {
  TrainerSteps trainer{.process = 5, .lane = 5, .device = 0, .device_seen = true};
  for (int64_t i = 0; i < 100; ++i) {
    trainer.steps.push_back(step);
    trainer.steps.back().begin = 100 * i * kMs;
    trainer.steps.back().end = 100 * (i + 1) * kMs;
  }
  return {trainer};
}

TEST(Launches, ShortGapsBetweenShortKernelsAreTheLaunches) {
  StepRecord step{.device = 40 * kMs, .launch_gaps = 55 * kMs, .kernels = 4000};
  const Verdict slow = Decide({.trainers = Trainers(step)});
  EXPECT_EQ(slow.bottleneck, Bottleneck::kLaunch);
  EXPECT_THAT(slow.evidence, Contains(HasSubstr("4000 kernels a step")));
  EXPECT_THAT(slow.evidence, Contains(HasSubstr("10.0 us")));
  EXPECT_THAT(slow.cure, HasSubstr("CUDA graphs"));
  step.launch_gaps = 20 * kMs;  // the host is busy with other things most of the time
  EXPECT_EQ(Decide({.trainers = Trainers(step)}).bottleneck, Bottleneck::kHost);
}

// The same without a trace.
TEST(Launches, WithoutKernelsNothingIsKnownOfThem) {
  EXPECT_EQ(Decide({.trainers = Trainers({.device = 40 * kMs})}).bottleneck, Bottleneck::kHost);
}

GpuUse Throttled() {
  return {.device = 1,
          .power = 690,
          .power_limit = 700,
          .busy_clock = 1200,
          .highest_clock = 1980,
          .throttled_share = 0.8,
          .throttled_by = "hardware thermal slowdown"};
}

TEST(Throttled, TheClockIsNamedWhereTheDeviceIsWhatTakesTheTime) {
  Evidence evidence{.trainers = Trainers({.device = 95 * kMs}), .gpus = {Throttled()}};
  const Verdict verdict = Decide(evidence);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kThrottled);
  EXPECT_THAT(verdict.evidence, Contains(HasSubstr("hardware thermal slowdown")));
  EXPECT_THAT(verdict.evidence, Contains(HasSubstr("1200 MHz of 1980")));
  evidence.gpus[0].busy_clock = 1970;  // throttled, but hardly slower
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kModel);
  evidence.gpus[0] = Throttled();
  evidence.gpus[0].throttled_share = 0.3;
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kModel);
  evidence.gpus[0] = {.device = 1};  // nothing could be read
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kModel);
}

TEST(Throttled, ItIsNotWhatATrainingThatWaitsForInputLacks) {
  const Verdict verdict =
      Decide({.trainers = Trainers({.uncovered_wait = 50 * kMs, .device = 50 * kMs}),
              .gpus = {Throttled()}});
  EXPECT_EQ(verdict.band, Band::kHighly);
  EXPECT_NE(verdict.bottleneck, Bottleneck::kThrottled);
}

// Other tools take 100 % utilisation in a deadlock for work.
TEST(Hang, NoStepEndsWhileTheGpuSaysItIsBusy) {
  Evidence evidence{.trainers = Trainers({.device = 95 * kMs}),
                    .gpus = {{.device = 0, .utilisation = 1, .spins_since = 11 * kSecond}},
                    .silence = Silence{.since = 10 * kSecond, .until = 50 * kSecond}};
  const Verdict verdict = Decide(evidence);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kHang);
  EXPECT_THAT(verdict.evidence, Contains(HasSubstr("the last 40 s")));
  EXPECT_THAT(verdict.evidence, Contains(HasSubstr("GPU 0 reports")));
  EXPECT_THAT(verdict.hints, Contains(HasSubstr("no step ends")));
  evidence.gpus[0].spins_since = 45 * kSecond;  // it worked for most of that time
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kModel);
  EXPECT_THAT(Decide(evidence).notes, Contains(HasSubstr("or it hangs")));
}

TEST(Hang, AWaitForInputThatDoesNotEnd) {
  Evidence evidence{
      .trainers = Trainers({.device = 95 * kMs}),
      .silence = Silence{.since = 10 * kSecond, .until = 50 * kSecond, .in_input = true}};
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kHang);
  EXPECT_THAT(Decide(evidence).evidence, Contains(HasSubstr("a wait for input")));
  evidence.silence->until = 14 * kSecond;
  EXPECT_EQ(Decide(evidence).bottleneck, Bottleneck::kModel);
  EXPECT_THAT(Decide(evidence).notes, Not(Contains(HasSubstr("hangs"))));
}

TEST(Hang, AllTrainingThreadsStandStill) {
  const auto still = [](int process, const char* phase, int line) {
    return Standstill{.process = process,
                      .seconds = 39,
                      .blocked = 1,
                      .line = {.role = kTrainerRole,
                               .phase = phase,
                               .file = "/a/train.py",
                               .line = line,
                               .function = "train",
                               .calling = "recv",
                               .made = {},
                               .waits = "socket"}};
  };
  std::vector<TrainerSteps> trainers = Trainers({.device = 95 * kMs});
  trainers.push_back(trainers.front());
  trainers[0].process = 10;
  trainers[1].process = 11;
  Evidence evidence{.trainers = trainers,
                    .silence = Silence{.since = 10 * kSecond, .until = 50 * kSecond},
                    .standstills = {still(10, "model", 5), still(11, "", 7)}};
  const Verdict verdict = Decide(evidence);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kHang);
  EXPECT_EQ(verdict.rank, 1);
  EXPECT_THAT(verdict.evidence, Contains("the training thread of process 11 waits at train.py:7 in "
                                         "`train`, calling recv (socket)"));
  evidence.standstills[1].line.phase = "model";
  EXPECT_EQ(Decide(evidence).rank, std::nullopt) << "all wait in the exchange";
  evidence.standstills[1].blocked = 0.9;
  EXPECT_NE(Decide(evidence).bottleneck, Bottleneck::kHang) << "it computes at times";
  evidence.standstills.pop_back();
  EXPECT_NE(Decide(evidence).bottleneck, Bottleneck::kHang) << "nothing is known of one";
}

TEST(Moving, CopiesOnDevicesAreALineOfTheirOwn) {
  const Verdict between =
      Decide({.trainers = Trainers({.device_copies = 40 * kMs, .device = 50 * kMs})});
  EXPECT_EQ(between.bottleneck, Bottleneck::kCopyOnDevices);
  EXPECT_NEAR(between.breakdown.device_copies, 0.4, 1e-9);
  const Verdict to_device =
      Decide({.trainers = Trainers({.copies = 40 * kMs, .device = 50 * kMs})});
  EXPECT_EQ(to_device.bottleneck, Bottleneck::kCopyToDevice);
}

TEST(Moving, DevicesThatComputeOneAtATime) {
  StepRecord step{.device = 80 * kMs, .all_devices = 84 * kMs, .more_devices = 40 * kMs};
  const Verdict turns = Decide({.trainers = Trainers(step)});
  EXPECT_EQ(turns.bottleneck, Bottleneck::kTurns);
  EXPECT_THAT(turns.evidence, Contains(HasSubstr("1.05 of them")));
  EXPECT_THAT(turns.cure, HasSubstr("on one device"));
  step.all_devices = 110 * kMs;  // they compute at the same time
  EXPECT_EQ(Decide({.trainers = Trainers(step)}).bottleneck, Bottleneck::kModel);
  step = {.device = 80 * kMs, .all_devices = 81 * kMs, .more_devices = kMs};  // a stray kernel
  EXPECT_EQ(Decide({.trainers = Trainers(step)}).bottleneck, Bottleneck::kModel);
  // Small pieces of work, each of which waits for the other device.
  step = {.device = 30 * kMs,
          .all_devices = 31 * kMs,
          .more_devices = 14 * kMs,
          .hand_overs = 25 * kMs};
  EXPECT_EQ(Decide({.trainers = Trainers(step)}).bottleneck, Bottleneck::kTurns);
  step.hand_overs = 0;  // the host does something else
  EXPECT_EQ(Decide({.trainers = Trainers(step)}).bottleneck, Bottleneck::kHost);
  step = {.device_copies = 40 * kMs,
          .device = 50 * kMs,
          .all_devices = 51 * kMs,
          .more_devices = 25 * kMs};  // copies are checked first
  EXPECT_EQ(Decide({.trainers = Trainers(step)}).bottleneck, Bottleneck::kCopyOnDevices);
}

TEST(Hints, UtilisationAloneDecidesNothing) {
  Evidence evidence{.trainers = Trainers({.uncovered_wait = kMs, .device = 90 * kMs}),
                    .gpus = {{.device = 0, .utilisation = 0.4}}};
  const Verdict busy = Decide(evidence);
  EXPECT_EQ(busy.band, Band::kNotInput);
  EXPECT_THAT(busy.hints, Contains(HasSubstr("against it: only 1.0 % of step time")));
  evidence.gpus[0].utilisation = 0.99;
  evidence.trainers = Trainers({.uncovered_wait = 50 * kMs, .device = 50 * kMs});
  const Verdict waits = Decide(evidence);
  EXPECT_EQ(waits.band, Band::kHighly);
  EXPECT_THAT(waits.hints, Contains(HasSubstr("against it: 50.0 %")));
  evidence.trainers.clear();
  const Verdict unknown = Decide(evidence);
  EXPECT_EQ(unknown.band, Band::kUnknown);
  EXPECT_THAT(unknown.hints, Contains(HasSubstr("GPU 0 is used 99.0 %")));
}

TEST(Hints, BusyProcessorsAndFilesAreShownBesideALowUtilisation) {
  Evidence evidence{.trainers = Trainers({.uncovered_wait = kMs, .device = 90 * kMs}),
                    .system = SystemRates{.tree_cores = 1.9, .allowed_cores = 2},
                    .gpus = {{.device = 0, .utilisation = 0.4}}};
  evidence.system->pressure.io.some = 0.5;
  EXPECT_THAT(Decide(evidence).hints, Contains(HasSubstr("1.9 of 2 processors")));
  EXPECT_THAT(Decide(evidence).hints,
              Contains(HasSubstr("some task of the machine waited for I/O 50.0 %")));
  evidence.gpus[0].utilisation = 0.9;
  EXPECT_EQ(Decide(evidence).hints.size(), 1u);
}

}  // namespace
}  // namespace recpack::probe
