#include "src/train/run/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/checkpoint/checkpoint.h"
#include "tests/base/address_space.h"
#include "tests/base/error_of.h"
#include "tests/base/forked.h"
#include "tests/base/temporary_folder.h"
#include "tests/train/small_trainings.h"
#include "tests/train/train_run.h"

namespace recpack::train {
namespace {

using testing::HasSubstr;

TrainerOptions Options(const SmallCifar& data, const std::string& devices = "cpu:0",
                       uint32_t batch_size = 16) {
  TrainerOptions options = SteadyPictures(data, devices);
  options.batch_size = batch_size;
  return options;
}

TEST(Trainer, LearnsAndReportsEachEpoch) {
  const SmallCifar data(80);
  TrainerOptions options = Options(data);
  options.epochs = 6;
  const Ran ran = Train(options);
  ASSERT_EQ(ran.epochs.size(), 6u);
  EXPECT_EQ(ran.losses.size(), 30u);
  EXPECT_EQ(ran.epochs.back().steps, 30);
  EXPECT_EQ(ran.epochs.back().train.samples, 80u);
  EXPECT_EQ(ran.epochs.back().evaluation.samples, 80u);
  EXPECT_LT(ran.epochs.back().train.loss, 0.7 * ran.epochs.front().train.loss);
  EXPECT_GT(ran.epochs.back().evaluation.accuracy, 0.3);
}

TEST(Trainer, TrainsTheOtherModelsOfPictures) {
  const SmallCifar data(80);
  for (const char* model : {"alexnet", "vgg", "googlenet"}) {
    SCOPED_TRACE(model);
    TrainerOptions options = Options(data);
    options.model = model;
    options.alexnet = {.filters = 8, .dense = 64};
    options.vgg = {.depth = 11, .width = 8, .dense = 32};
    options.googlenet.width = 8;
    options.epochs = 8;
    const Ran ran = Train(options);
    EXPECT_LT(ran.epochs.back().train.loss, 0.8 * ran.epochs.front().train.loss);
    EXPECT_EQ(ran.losses, Train(options).losses) << "the same bits again";
  }
}

TEST(Trainer, EvaluatesEverySampleOnceWhenTheLastBatchIsShort) {
  const SmallCifar data(50);
  for (const char* devices : {"cpu:0", "cpu:0,cpu:1"}) {
    TrainerOptions options = Options(data, devices, 16);
    options.epochs = 1;
    EXPECT_EQ(Train(options).epochs[0].evaluation.samples, 50u) << devices;
  }
}

TEST(Trainer, RunsOfTheSameSeedAreTheSameBits) {
  const SmallCifar data(64);
  EXPECT_EQ(Train(Options(data)).losses, Train(Options(data)).losses);
  TrainerOptions other = Options(data);
  other.seed = 4;
  EXPECT_NE(Train(Options(data)).losses, Train(other).losses);
}

// With batch statistics over all devices, D devices equal one with D times the batch.
TEST(Trainer, DevicesTogetherGiveTheLossesOfOne) {
  const SmallCifar data(64);
  const auto alone = Train(Options(data, "cpu:0", 16)).losses;
  for (const auto& [devices, batch] :
       {std::pair("cpu:0,cpu:1", 8U), {"cpu:0,cpu:1,cpu:2,cpu:3", 4}}) {
    for (const StrategyKind strategy :
         {StrategyKind::kReplicated, StrategyKind::kParameterServer}) {
      TrainerOptions options = Options(data, devices, batch);
      options.strategy = strategy;
      options.norm_sync = true;
      const auto together = Train(options).losses;
      ASSERT_EQ(together.size(), alone.size());
      for (size_t i = 0; i < alone.size(); ++i) {
        EXPECT_TRUE(std::abs(together[i] - alone[i]) <= 0.02 * alone[i])
            << devices << " at step " << i << ": " << together[i] << ", " << alone[i];
      }
      EXPECT_NEAR(together[0], alone[0], 1e-4);
      EXPECT_NEAR(together[1], alone[1], 1e-3);
    }
  }
}

TEST(Trainer, WhereVariablesAreChangesNoBit) {
  const SmallCifar data(64);
  const auto replicated = Train(Options(data, "cpu:0,cpu:1,cpu:2", 8)).losses;
  for (const VariablePlace place :
       {VariablePlace::kCpu, VariablePlace::kFirstDevice, VariablePlace::kSpread}) {
    TrainerOptions options = Options(data, "cpu:0,cpu:1,cpu:2", 8);
    options.strategy = StrategyKind::kParameterServer;
    options.variables = place;
    const Ran served = Train(options);
    EXPECT_EQ(served.losses, replicated) << static_cast<int>(place);
    EXPECT_GT(served.epochs[0].exchange_calls, 0u);
    EXPECT_GT(served.epochs[0].exchange_bytes, 0u);
  }
}

TEST(Trainer, AsynchronousUpdatesLearnAsWell) {
  const SmallCifar data(80);
  TrainerOptions options = Options(data, "cpu:0,cpu:1", 8);
  options.strategy = StrategyKind::kParameterServer;
  options.async = true;
  options.epochs = 6;
  options.optimizer.rate = 0.01;
  const Ran ran = Train(options);
  EXPECT_LT(ran.epochs.back().train.loss, 0.8 * ran.epochs.front().train.loss);
  options.strategy = StrategyKind::kReplicated;
  EXPECT_THAT(MessageOf(options), HasSubstr("parameter server"));
}

// A run that stops at a checkpoint and resumes equals an uninterrupted run, bit for bit.
TEST(Trainer, GoesOnFromACheckpointAsIfItHadNotStopped) {
  const SmallCifar data(80);
  for (const auto& [devices, strategy] : {std::pair("cpu:0", StrategyKind::kReplicated),
                                          {"cpu:0,cpu:1", StrategyKind::kReplicated},
                                          {"cpu:0,cpu:1", StrategyKind::kParameterServer}}) {
    TrainerOptions options = Options(data, devices, 8);
    options.strategy = strategy;
    options.epochs = 3;
    const Ran whole = Train(options);
    const auto steps = static_cast<int64_t>(whole.losses.size());
    for (const int64_t stop : {int64_t{3}, steps / 3, steps - 2}) {  // also at an epoch's end
      SCOPED_TRACE(stop);
      const TemporaryFolder folder;
      TrainerOptions first = options;
      first.checkpoints = folder.path();
      first.checkpoint_steps = stop;
      first.keep_checkpoints = 100;
      const Ran with_checkpoints = Train(first);
      EXPECT_EQ(with_checkpoints.losses, whole.losses) << "checkpoints change nothing";
      TrainerOptions rest = options;
      rest.resume = format("{}/step-{:08}.safetensors", folder.path(), stop);
      const Ran resumed = Train(rest);
      EXPECT_EQ(resumed.losses, std::vector(whole.losses.begin() + stop, whole.losses.end()));
      EXPECT_EQ(resumed.epochs.back().evaluation.loss, whole.epochs.back().evaluation.loss);
      EXPECT_EQ(resumed.epochs.back().train.samples, whole.epochs.back().train.samples);
      EXPECT_NEAR(resumed.epochs.back().train.loss, whole.epochs.back().train.loss, 1e-5);
    }
  }
}

// A new run would mix with the checkpoints that are there.
TEST(Trainer, SaysThatItsFolderHasLaterCheckpoints) {
  const SmallCifar data(80);
  const TemporaryFolder folder;
  TrainerOptions options = Options(data);
  options.checkpoints = folder.path();
  options.train_split = "train";  // chosen without a notice
  options.max_steps = 4;
  Train(options);
  const auto notices = [&] {
    std::string all;
    const Trainer trainer(options, [&](const std::string& text) { all += text + "\n"; });
    return all;
  };
  EXPECT_THAT(notices(), HasSubstr("has checkpoints of later steps, up to 4, which --resume"));
  options.resume = folder.path();
  EXPECT_THAT(notices(), testing::Not(HasSubstr("later steps")));
  options.resume.clear();
  options.checkpoints = folder / "another";
  EXPECT_EQ(notices(), "");
}

// Its epoch is not over. Without updates the loss depends on the batch only.
TEST(Trainer, GoesOnInTheEpochThatItsMostStepsEndedIn) {
  const SmallCifar data(80);
  for (const char* devices : {"cpu:0", "cpu:0,cpu:1"}) {
    TrainerOptions options = Options(data, devices, 8);
    options.optimizer.rate = 1e-30;
    const Ran whole = Train(options);
    const auto steps = static_cast<int64_t>(whole.losses.size());
    for (const int64_t stop : {steps / 4, steps / 2, steps - 1}) {
      SCOPED_TRACE(stop);
      const TemporaryFolder folder;
      TrainerOptions first = options;
      first.checkpoints = folder.path();
      first.max_steps = stop;
      Train(first);
      TrainerOptions rest = options;
      rest.resume = folder.path();
      const Ran resumed = Train(rest);
      EXPECT_EQ(resumed.losses, std::vector(whole.losses.begin() + stop, whole.losses.end()));
      EXPECT_EQ(resumed.epochs.size(), stop < steps / 2 ? 2u : 1u);
      for (const EpochReport& epoch : resumed.epochs) EXPECT_EQ(epoch.train.samples, 80u);
      EXPECT_TRUE(resumed.epochs.back().audit && resumed.epochs.back().audit->holds);
    }
  }
}

// The rate follows the epochs, even if a run stops earlier.
TEST(Trainer, ARunThatStoppedAtItsMostStepsIsTheRunThatWentThrough) {
  const SmallCifar data(80);
  TrainerOptions options = Options(data, "cpu:0", 8);
  options.warmup_epochs = 0.5;
  const Ran whole = Train(options);
  const auto steps = static_cast<int64_t>(whole.losses.size());
  for (const int64_t stop : {steps / 4, steps - 1}) {
    const TemporaryFolder folder;
    TrainerOptions first = options;
    first.checkpoints = folder.path();
    first.max_steps = stop;
    const Ran begun = Train(first);
    EXPECT_EQ(begun.losses, std::vector(whole.losses.begin(), whole.losses.begin() + stop));
    TrainerOptions rest = options;
    rest.resume = folder.path();
    EXPECT_EQ(Train(rest).losses, std::vector(whole.losses.begin() + stop, whole.losses.end()));
  }
}

TEST(Trainer, GoesOnByAnotherScheduleOnlyWhereItIsAskedTo) {
  const SmallCifar data(80);
  const TemporaryFolder folder;
  TrainerOptions options = Options(data);
  options.epochs = 3;
  options.warmup_epochs = 0.5;
  const Ran whole = Train(options);
  ASSERT_EQ(whole.losses.size(), 15u);
  TrainerOptions first = options;
  first.epochs = 2;
  first.checkpoints = folder / "of 2";
  Train(first);

  TrainerOptions more = options;
  more.resume = first.checkpoints;
  EXPECT_THAT(
      MessageOf(more),
      testing::AllOf(HasSubstr("goes by 2 epochs of 5 steps, this run's by 3 of 5"),
                     HasSubstr("give --epochs 2; or, to go on"), HasSubstr("--schedule-epochs 3")));
  more.schedule_epochs = 3;
  std::string notices;
  Trainer trainer(more, [&](const std::string& text) { notices += text + "\n"; });
  trainer.Run([](const EpochReport&) {});
  EXPECT_EQ(trainer.losses().size(), 5u);
  EXPECT_THAT(notices, HasSubstr("this run's by 3 of 5, as was asked for"));

  // A run planned for 3 epochs that ended after 2 equals the run of 3.
  first.schedule_epochs = 3;
  first.checkpoints = folder / "of 3";
  Train(first);
  TrainerOptions rest = options;
  rest.resume = first.checkpoints;
  EXPECT_EQ(Train(rest).losses, std::vector(whole.losses.begin() + 10, whole.losses.end()));
  rest.epochs = 2;
  EXPECT_THAT(MessageOf(rest), HasSubstr("give --schedule-epochs 3; or"));
  rest.epochs = 0;  // trains nothing
  EXPECT_EQ(MessageOf(rest), "");

  // Steps of other sizes: the epochs that are left are trained all the same, no more and no fewer.
  rest = options;
  rest.resume = first.checkpoints;
  for (const auto& [batch, steps] : {std::pair(8u, 10u), std::pair(40u, 2u)}) {
    rest.batch_size = batch;
    rest.schedule_epochs = 0;
    EXPECT_THAT(MessageOf(rest), HasSubstr("so that a step has as many samples as before"));
    rest.schedule_epochs = 3;
    const Ran ran = Train(rest);
    EXPECT_EQ(ran.losses.size(), steps);
    EXPECT_EQ(ran.epochs.size(), 1u);
  }

  // Checkpoints of before do not say what their rate went by.
  Checkpoint old = ReadCheckpoint(PosixFiles(), folder / "of 2/step-00000010.safetensors");
  EXPECT_EQ(old.info.schedule_epochs, 2u);
  old.info.schedule_epochs = old.info.epoch_steps = 0;
  more.resume = folder / "old";
  more.schedule_epochs = 0;
  WriteCheckpoint(PosixFiles(), more.resume, old.info, old.stored.arrays);
  EXPECT_EQ(Train(more).losses.size(), 5u);
}

// The next integer after 2^24 is not a float.
TEST(Trainer, CountsMoreSamplesOfAnEpochThanAFloatCan) {
  constexpr uint64_t kBefore = (uint64_t{1} << 24) + 1;
  const SmallCifar data(80);
  for (const char* devices : {"cpu:0", "cpu:0,cpu:1"}) {
    const TemporaryFolder folder;
    TrainerOptions options = Options(data, devices, 8);
    options.epochs = 1;
    TrainerOptions first = options, rest = options;
    first.checkpoints = folder.path();
    first.max_steps = 2;
    Train(first);
    rest.resume = folder / "counted";
    Checkpoint begun = ReadCheckpoint(PosixFiles(), folder / "step-00000002.safetensors");
    const auto taken = static_cast<uint64_t>(begun.info.sums.at("samples"));
    begun.info.sums = {{"loss", 0.0}, {"correct", kBefore}, {"samples", kBefore}};
    WriteCheckpoint(PosixFiles(), rest.resume, begun.info, begun.stored.arrays);
    rest.checkpoints = folder.path();
    rest.checkpoint_steps = 3;
    rest.keep_checkpoints = 100;
    const Ran ran = Train(rest);
    ASSERT_EQ(ran.epochs.size(), 1u);
    EXPECT_EQ(ran.epochs[0].train.samples, kBefore + 80 - taken) << devices;
    const double correct = ran.epochs[0].train.accuracy * static_cast<double>(kBefore + 80 - taken);
    EXPECT_NEAR(correct, std::round(correct), 1e-6);
    const Checkpoint later = ReadCheckpoint(PosixFiles(), folder / "step-00000003.safetensors");
    EXPECT_EQ(later.info.sums.at("samples"), static_cast<double>(kBefore + taken / 2)) << devices;
  }
}

TEST(Trainer, RefusesCheckpointsThatDoNotFit) {
  const SmallCifar data(32);
  const TemporaryFolder folder;
  TrainerOptions options = Options(data);
  options.epochs = 1;
  options.resume = folder.path();
  EXPECT_THAT(MessageOf(options), HasSubstr("no checkpoint"));
  options.checkpoints = folder.path();
  options.resume.clear();
  Train(options);
  options.checkpoints.clear();
  options.resume = folder.path();
  TrainerOptions other = options;
  other.seed = 9;
  EXPECT_THAT(MessageOf(other), HasSubstr("seed 3, not 9"));
  other = options;
  other.resnet.width = 16;
  other.epochs = other.schedule_epochs = 2;
  EXPECT_THAT(MessageOf(other), HasSubstr("width"));
  const SmallCifar other_data(48);
  other = options;
  other.data = other_data.folder();
  EXPECT_THAT(MessageOf(other), HasSubstr("token"));
}

TEST(Trainer, RepeatsBatchesWhereAsked) {
  const SmallCifar data(80);
  for (const InputKind input : {InputKind::kCached, InputKind::kSynthetic}) {
    TrainerOptions options = Options(data, "cpu:0,cpu:1", 8);
    options.input = input;
    options.epochs = 6;
    options.evaluate = false;
    const Ran ran = Train(options);
    ASSERT_EQ(ran.losses.size(), 30u);
    EXPECT_LT(ran.losses.back(), 0.3 * ran.losses.front()) << "known by heart";
    options.checkpoints = "/nowhere";
    EXPECT_THAT(MessageOf(options), HasSubstr("cannot write checkpoints"));
  }
}

TEST(Trainer, SimulatedDevicesTakeBatchesAndTime) {
  const SmallCifar data(80);
  TrainerOptions options = Options(data, "sim:2ms,sim:3ms", 8);
  const Ran ran = Train(options);
  ASSERT_EQ(ran.epochs.size(), 2u);
  EXPECT_EQ(ran.epochs[1].steps, 10);
  EXPECT_EQ(ran.epochs[1].train.samples, 80u);
  EXPECT_GE(ran.epochs[1].train_seconds, 5 * 0.003);
  options.max_steps = 3;
  EXPECT_EQ(Train(options).epochs.back().steps, 3);
  EXPECT_THAT(MessageOf(Options(data, "sim:2ms,cpu:0")), HasSubstr("mixed with others"));
}

// The two batches that the devices hold.
TEST(Trainer, SaysThatAThreadCannotBeStarted) {
  if (!CanLimitAddressSpace()) GTEST_SKIP() << "address space has no limit here";
  const SmallCifar data(80);
  for (const char* devices : {"cpu:0,cpu:1", "sim:1ms,sim:1ms"}) {
    EXPECT_EQ(InChild([&] {
                Trainer trainer(Options(data, devices, 8));
                LeaveRoomForOneThread();
                const Error error = ErrorOf([&] { trainer.Run([](const EpochReport&) {}); });
                EXPECT_EQ(error.kind(), ErrorKind::kIo);
                EXPECT_THAT(error.what(), HasSubstr("a thread cannot be started: "));
                EXPECT_THAT(error.what(), HasSubstr("ulimit -u"));
                return !testing::Test::HasFailure();
              }),
              0)
        << devices;
  }
}

TEST(Trainer, NamesStepLayerAndTokenOfANumberThatIsNone) {
  const SmallCifar data(64);
  for (const char* devices : {"cpu:0", "cpu:0,cpu:1"}) {
    for (const StrategyKind strategy :
         {StrategyKind::kReplicated, StrategyKind::kDistributedReplicated,
          StrategyKind::kParameterServer}) {
      TrainerOptions options = Options(data, devices, 8);
      options.strategy = strategy;
      options.optimizer.rate = 1e30;
      options.norm_sync = true;
      const std::string message = MessageOf(options);
      EXPECT_THAT(message, HasSubstr("the loss of step"));
      EXPECT_THAT(message, HasSubstr("layer"));
      EXPECT_THAT(message, HasSubstr("token"));
    }
  }
}

TEST(Trainer, RefusesOptionsThatMakeNoSense) {
  const SmallCifar data(32);
  const auto refused = [&](const std::string& reason, auto change) {
    TrainerOptions options = Options(data);
    change(options);
    EXPECT_THAT(MessageOf(options), HasSubstr(reason));
  };
  refused("the most steps: -1", [](auto& o) { o.max_steps = -1; });
  refused("steps of a checkpoint: -1", [](auto& o) { o.checkpoint_steps = -1; });
  refused("no folder for them", [](auto& o) { o.checkpoint_steps = 1; });
  refused("threads: -1", [](auto& o) {
    o.threads = -1;
    o.bind_threads = true;
  });
  refused("the learning rate: nan", [](auto& o) { o.optimizer.rate = std::nan(""); });
  refused("the learning rate is 0 after its 2 epochs, and 3 are to be trained", [](auto& o) {
    o.schedule_epochs = 2;
    o.epochs = 3;
  });
  refused("-1 classes", [](auto& o) { o.pictures.classes = -1; });
  refused("-3 channels", [](auto& o) { o.resnet.width = -3; });
}

// With more steps than can be counted.
TEST(Trainer, TakesAnyNumberOfEpochs) {
  const SmallCifar data(32);
  TrainerOptions options = Options(data);
  options.epochs = std::numeric_limits<uint64_t>::max();
  options.warmup_epochs = 1e300;
  options.evaluate = false;
  Trainer trainer(options);
  EXPECT_THROW(trainer.Run([](const EpochReport& epoch) {
    if (epoch.epoch == 1) throw Error(ErrorKind::kInvalidArgument, "enough");
  }),
               Error);
  EXPECT_EQ(trainer.losses().size(), 4u);
}

TEST(Trainer, RefusesLabelsThatAreOutOfRange) {
  const SmallCifar data(64);
  data.AddLabels(10, 64);
  for (const StrategyKind strategy : {StrategyKind::kReplicated, StrategyKind::kParameterServer}) {
    TrainerOptions options = Options(data, "cpu:0,cpu:1", 8);
    options.strategy = strategy;
    EXPECT_THAT(MessageOf(options), HasSubstr("not in 0 to 9"));
  }
}

TEST(Trainer, RefusesLabelsOfTheEvaluationThatAreOutOfRange) {
  const SmallCifar data(64);
  data.AddLabels(10, 8, "test");
  for (const char* devices : {"cpu:0", "cpu:0,cpu:1"}) {
    const std::string message = MessageOf(Options(data, devices, 8));
    EXPECT_THAT(message, HasSubstr("of the evaluation are not in 0 to 9"));
    EXPECT_THAT(message, HasSubstr("token"));
  }
}

TEST(Trainer, RefusesMoreDevicesThanThereAreSamples) {
  const SmallCifar data(16);
  EXPECT_THAT(MessageOf(Options(data, "cpu:0,cpu:1", 16)), HasSubstr("no batch of 16"));
  TrainerOptions options = Options(data);
  options.devices = ParseDevices("cuda:7");
  EXPECT_THAT(MessageOf(options), HasSubstr("cuda:7"));
}

}  // namespace
}  // namespace recpack::train
