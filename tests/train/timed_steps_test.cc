// Timed steps after a training.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/train/run/trainer.h"
#include "tests/train/small_trainings.h"
#include "tests/train/train_run.h"

namespace recpack::train {
namespace {

using testing::HasSubstr;

TrainerOptions TimedOptions(const SmallCifar& data, const std::string& devices) {
  TrainerOptions options = SmallPictures(data, devices);
  options.epochs = 0;
  options.timing = {.inputs = {InputKind::kReal, InputKind::kCached, InputKind::kSynthetic},
                    .steps = 3,
                    .warmup = 4,
                    .rounds = 2};
  return options;
}

std::vector<StepTiming> Timed(const TrainerOptions& options) {
  Trainer trainer(options);
  trainer.Run([](const EpochReport&) {});
  return trainer.timings();
}

// 80 records are 5 steps of two devices: each turn crosses the end of an epoch.
TEST(TimedSteps, AreOfEachKindOfInputInTheOrderAskedFor) {
  const SmallCifar data(80);
  for (const char* devices : {"cpu:0", "cpu:0,cpu:1", "sim:1ms,sim:2ms"}) {
    SCOPED_TRACE(devices);
    TrainerOptions options = TimedOptions(data, devices);
    options.timing.rounds = 1;  // medians of several would be from different rounds
    std::swap(options.timing.inputs[0], options.timing.inputs[2]);
    const auto timings = Timed(options);
    ASSERT_EQ(timings.size(), 3u);
    EXPECT_EQ(timings[0].input, InputKind::kSynthetic);
    EXPECT_EQ(timings[2].input, InputKind::kReal);
    for (const StepTiming& timing : timings) {
      const double samples = 8 * static_cast<double>(options.devices.size());
      EXPECT_GT(timing.samples_per_second, 0);
      EXPECT_GT(timing.step_seconds, 0);
      EXPECT_GE(timing.step_seconds, timing.input_wait_seconds);
      EXPECT_NEAR(timing.samples_per_second * timing.step_seconds / samples, 1, 1e-9);
    }
  }
}

TEST(TimedSteps, OfSimulatedDevicesTakeTheSlowestOnesTime) {
  const SmallCifar data(80);
  const auto timings = Timed(TimedOptions(data, "sim:1ms,sim:4ms"));
  for (const StepTiming& timing : timings) EXPECT_GE(timing.step_seconds, 0.004);
}

// The bytes exchanged per step depend on the network, not on time.
TEST(TimedSteps, CountTheBytesThatDevicesExchangeInAStep) {
  const SmallCifar data(80);
  TrainerOptions options = TimedOptions(data, "cpu:0");
  EXPECT_EQ(Timed(options)[0].exchange_bytes, 0);
  options = TimedOptions(data, "cpu:0,cpu:1");
  Trainer trainer(options);
  trainer.Run([](const EpochReport&) {});
  const double bytes = trainer.timings()[0].exchange_bytes;
  EXPECT_GT(bytes, 0);
  EXPECT_EQ(trainer.timings()[2].exchange_bytes, bytes);
  options.epochs = 1;
  const Ran ran = Train(options);
  EXPECT_EQ(static_cast<double>(ran.epochs[0].exchange_bytes) / 5, bytes) << "as when it trains";
}

TEST(TimedSteps, ComeAfterTheTrainingAndChangeNothingOfIt) {
  const SmallCifar data(80);
  TrainerOptions options = TimedOptions(data, "cpu:0,cpu:1");
  options.epochs = 2;
  Trainer trainer(options);
  std::vector<EpochReport> epochs;
  trainer.Run([&](const EpochReport& report) {
    EXPECT_TRUE(trainer.timings().empty());
    epochs.push_back(report);
  });
  EXPECT_EQ(trainer.timings().size(), 3u);
  options.timing = {};
  const Ran without = Train(options);
  EXPECT_EQ(trainer.losses(), without.losses);
  EXPECT_EQ(epochs.back().evaluation.loss, without.epochs.back().evaluation.loss);
}

TEST(TimedSteps, AreRefusedAsOthersAre) {
  const SmallCifar data(64);
  data.AddLabels(10, 64);
  for (const char* devices : {"cpu:0", "cpu:0,cpu:1"}) {
    TrainerOptions options = TimedOptions(data, devices);
    options.timing.steps = 16;
    EXPECT_THAT(MessageOf(options), HasSubstr("not in 0 to 9"));
  }
}

}  // namespace
}  // namespace recpack::train
