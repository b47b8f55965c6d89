// Trainings over several processes, which are threads here: tests/cli/ranks_test.py has real ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "recpack/base/cpu.h"
#include "src/base/format.h"
#include "src/train/run/trainer.h"
#include "tests/base/temporary_folder.h"
#include "tests/train/joined_processes.h"
#include "tests/train/small_trainings.h"
#include "tests/train/train_run.h"

namespace recpack::train {
namespace {

using testing::HasSubstr;

constexpr StrategyKind kStrategies[] = {StrategyKind::kReplicated,
                                        StrategyKind::kDistributedReplicated,
                                        StrategyKind::kParameterServer};
constexpr VariablePlace kPlaces[] = {VariablePlace::kCpu, VariablePlace::kFirstDevice,
                                     VariablePlace::kSpread};

// Losses of the first process; none may fail.
Ran TrainTogether(const std::vector<TrainerOptions>& options) {
  const auto processes = TrainProcesses(options);
  for (const Process& process : processes) {
    EXPECT_EQ(process.failure, "");
    EXPECT_EQ(process.ran.losses, processes[0].ran.losses);
    EXPECT_EQ(process.ran.epochs.empty(), &process != &processes[0]);
  }
  return processes[0].ran;
}

void ExpectSameBits(const Ran& one, const Ran& other) {
  EXPECT_EQ(one.losses, other.losses);
  ASSERT_EQ(one.epochs.size(), other.epochs.size());
  for (size_t i = 0; i < one.epochs.size(); ++i) {
    for (const auto score : {&EpochReport::train, &EpochReport::evaluation}) {
      EXPECT_EQ((one.epochs[i].*score).loss, (other.epochs[i].*score).loss);
      EXPECT_EQ((one.epochs[i].*score).accuracy, (other.epochs[i].*score).accuracy);
      EXPECT_EQ((one.epochs[i].*score).samples, (other.epochs[i].*score).samples);
    }
    EXPECT_EQ(one.epochs[i].steps, other.epochs[i].steps);
  }
}

// 80 samples make five steps of 16, and evaluation ends with a padded batch on three devices.
TEST(Processes, WithADeviceEachAreTheDevicesOfOneBitForBit) {
  const SmallCifar data(80);
  for (const auto& [processes, devices] : {std::pair(2, "cpu:0,cpu:1"), {3, "cpu:0,cpu:1,cpu:2"}}) {
    for (const bool norm_sync : {false, true}) {
      SCOPED_TRACE(format("{} {}", devices, norm_sync));
      TrainerOptions alone = SteadyPictures(data, devices), each = SteadyPictures(data);
      alone.norm_sync = each.norm_sync = norm_sync;
      const Ran expected = Train(alone);
      EXPECT_EQ(expected.epochs[0].evaluation.samples, 80u);
      for (const auto strategy : kStrategies) {
        each.strategy = strategy;
        ExpectSameBits(TrainTogether(std::vector(static_cast<size_t>(processes), each)), expected);
      }
    }
  }
}

TEST(Processes, TheMasterCopyOfOneProcessChangesNoBit) {
  const SmallCifar data(80);
  for (const char* devices : {"cpu:0", "cpu:0,cpu:1", "cpu:0,cpu:1,cpu:2,cpu:3"}) {
    SCOPED_TRACE(devices);
    TrainerOptions options = SteadyPictures(data, devices);
    const Ran replicated = Train(options);
    options.strategy = StrategyKind::kDistributedReplicated;
    const Ran distributed = Train(options);
    ExpectSameBits(distributed, replicated);
    EXPECT_GT(distributed.epochs[0].exchange_calls, 0u);
  }
}

// Sums are made in each process first: another order than that of one process.
TEST(Processes, WithSeveralDevicesEachAreThoseOfOneWithinRounding) {
  const SmallCifar data(80);
  const Ran alone = Train(SteadyPictures(data, "cpu:0,cpu:1,cpu:2,cpu:3"));
  for (const auto& [first, second] :
       {std::pair("cpu:0,cpu:1", "cpu:0,cpu:1"), {"cpu:0", "cpu:0,cpu:1,cpu:2"}}) {
    SCOPED_TRACE(second);
    std::vector options = {SteadyPictures(data, first), SteadyPictures(data, second)};
    const Ran together = TrainTogether(options);
    ASSERT_EQ(together.losses.size(), alone.losses.size());
    EXPECT_NEAR(together.losses[0], alone.losses[0], 1e-6 * alone.losses[0]);
    for (size_t i = 0; i < alone.losses.size(); ++i) {
      EXPECT_TRUE(std::abs(together.losses[i] - alone.losses[i]) <= 1e-3 * alone.losses[i])
          << i << ": " << together.losses[i] << ", " << alone.losses[i];
    }
    EXPECT_EQ(together.epochs[0].evaluation.samples, 80u);
    for (const auto strategy : kStrategies) {
      for (TrainerOptions& each : options) each.strategy = strategy;
      ExpectSameBits(TrainTogether(options), together);
    }
  }
}

// One file of the first process, which the same number of devices resumes from, in any number of
// processes.
TEST(Processes, GoOnFromACheckpointAsIfTheyHadNotStopped) {
  const SmallCifar data(80);
  for (const auto strategy : kStrategies) {
    TrainerOptions each = SteadyPictures(data);
    each.strategy = strategy;
    const Ran whole = TrainTogether({each, each});
    for (const int64_t stop : {3, 5}) {  // in the middle and at the end of an epoch
      SCOPED_TRACE(stop);
      const TemporaryFolder folder;
      TrainerOptions first = each;
      first.checkpoints = folder.path();
      first.checkpoint_steps = stop;
      first.keep_checkpoints = 100;
      EXPECT_EQ(TrainTogether({first, first}).losses, whole.losses);
      const std::vector rest(whole.losses.begin() + stop, whole.losses.end());
      TrainerOptions later = each;
      later.resume = format("{}/step-{:08}.safetensors", folder.path(), stop);
      const Ran together = TrainTogether({later, later});
      EXPECT_EQ(together.losses, rest);
      EXPECT_EQ(together.epochs.back().evaluation.loss, whole.epochs.back().evaluation.loss);
      EXPECT_EQ(together.epochs.back().train.samples, whole.epochs.back().train.samples);
      later.devices = ParseDevices("cpu:0,cpu:1");
      EXPECT_EQ(Train(later).losses, rest);
      later.strategy = StrategyKind::kReplicated;
      EXPECT_EQ(Train(later).losses, rest) << "of the other strategy";
    }
  }
}

// Embeddings of a mebibyte each: buckets of their own, which have different keepers if spread.
TrainerOptions WideReviews(const SmallReviews& data, const std::string& devices = "cpu:0") {
  TrainerOptions options = SmallReviewsTraining(data, devices);
  options.deepconn.vocabulary = 40'000;
  options.evaluate = false;
  return options;
}

TEST(Processes, HaveAServerWhosePlaceChangesNoBit) {
  const SmallReviews data(120);
  const Ran expected = Train(WideReviews(data, "cpu:0,cpu:1,cpu:2"));
  TrainerOptions alone = WideReviews(data, "cpu:0,cpu:1,cpu:2"), each = WideReviews(data);
  alone.strategy = each.strategy = StrategyKind::kParameterServer;
  ExpectSameBits(Train(alone), expected);
  for (const VariablePlace place : kPlaces) {
    SCOPED_TRACE(static_cast<int>(place));
    each.variables = place;
    ExpectSameBits(TrainTogether({each, each, each}), expected);
  }
}

// The optimizer's values of a spread variable are in the process that keeps it.
TEST(Processes, GoOnFromACheckpointWhoseVariablesAreKeptElsewhere) {
  const SmallReviews data(120);
  TrainerOptions each = WideReviews(data);
  each.strategy = StrategyKind::kParameterServer;
  const Ran whole = TrainTogether({each, each});
  ASSERT_GT(whole.losses.size(), 4u);
  for (const VariablePlace place : kPlaces) {
    SCOPED_TRACE(static_cast<int>(place));
    const TemporaryFolder folder;
    TrainerOptions first = each, later = each;
    first.variables = place;
    first.checkpoints = later.resume = folder.path();
    first.max_steps = 4;
    TrainTogether({first, first});
    const std::vector rest(whole.losses.begin() + 4, whole.losses.end());
    for (const VariablePlace next : kPlaces) {
      later.variables = next;
      EXPECT_EQ(TrainTogether({later, later}).losses, rest) << static_cast<int>(next);
    }
    later.devices = ParseDevices("cpu:0,cpu:1");
    EXPECT_EQ(Train(later).losses, rest) << "in one process";
  }
}

TEST(Processes, GoOnInTheEpochThatTheirMostStepsEndedIn) {
  const SmallCifar data(80);
  TrainerOptions each = SteadyPictures(data);
  each.optimizer.rate = 1e-30;  // the loss depends on the batch only
  const Ran whole = TrainTogether({each, each});
  const TemporaryFolder folder;
  TrainerOptions first = each, rest = each;
  first.checkpoints = rest.resume = folder.path();
  first.max_steps = 7;
  TrainTogether({first, first});
  const Ran resumed = TrainTogether({rest, rest});
  EXPECT_EQ(resumed.losses, std::vector(whole.losses.begin() + 7, whole.losses.end()));
  ASSERT_EQ(resumed.epochs.size(), 1u);
  EXPECT_EQ(resumed.epochs[0].train.samples, 80u);
}

TEST(Processes, RefuseMoreDevicesThanThereAreBatches) {
  const SmallCifar data(20);
  const TrainerOptions each = SteadyPictures(data);
  for (const Process& process : TrainProcesses({each, each, each})) {
    EXPECT_THAT(process.failure, HasSubstr("has no batch of 8 for each of 3 devices"));
  }
}

// The one that fails reports why, and so does the other.
void ExpectFailure(const std::vector<Process>& processes, const std::string& reason) {
  EXPECT_THAT(processes[1].failure, HasSubstr(reason));
  EXPECT_THAT(processes[0].failure, HasSubstr("rank 1 ended the run: "));
  EXPECT_THAT(processes[0].failure, HasSubstr(reason));
}

TEST(Processes, AllHearWhyOneFails) {
  const SmallCifar data(80);
  const TrainerOptions good = SteadyPictures(data);
  const auto fails = [&](const std::string& reason, auto change) {
    TrainerOptions bad = good;
    change(bad);
    ExpectFailure(TrainProcesses({good, bad}), reason);
  };
  fails("/nowhere", [](auto& o) { o.data = "/nowhere"; });
  fails("batch size: 4 at rank 1, 8 at rank 0", [](auto& o) { o.batch_size = 4; });
  fails("seed: 4 at rank 1, 3 at rank 0", [](auto& o) { o.seed = 4; });
  fails("type of activations: bf16 at rank 1, f32 at rank 0",
        [](auto& o) { o.type = ElementType::kBf16; });
  fails("evaluated split: 'train' at rank 1, '' at rank 0",
        [](auto& o) { o.eval_split = "train"; });
  const SmallCifar other(64);
  fails("the data set", [&](auto& o) { o.data = other.folder(); });
}

TEST(Processes, ANumberThatIsNoneEndsAll) {
  const SmallCifar data(80);
  TrainerOptions each = SteadyPictures(data, "cpu:0,cpu:1");
  each.optimizer.rate = 1e30;
  for (const auto strategy : kStrategies) {
    each.strategy = strategy;
    for (const Process& process : TrainProcesses({each, each})) {
      EXPECT_THAT(process.failure, HasSubstr("is not a number; the first layer"));
    }
  }
}

TEST(Processes, ShareTheProcessorsOfAMachine) {
  const SmallCifar data(80);
  Joins joins(2);
  std::vector<std::string> texts(2);
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < texts.size(); ++i) {
      threads.emplace_back([&, i] {
        TrainerOptions each = SteadyPictures(data);
        each.threads = 0;
        each.join = joins.Of(i);
        texts[i] = Trainer(each).Describe();
      });
    }
  }
  const int threads = std::max(1, AvailableThreads() / 2);
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_THAT(texts[i], HasSubstr(format("rank {} of 2, which have 2 devices", i)));
    EXPECT_THAT(texts[i], HasSubstr(format(", {} threads", threads)));
  }
}

TEST(Processes, RefuseWhatOnlyOneCanTrain) {
  const SmallCifar data(80);
  const auto refused = [&](const std::string& reason, auto change) {
    TrainerOptions each = SteadyPictures(data);
    change(each);
    for (const Process& process : TrainProcesses({each, each})) {
      EXPECT_THAT(process.failure, HasSubstr(reason));
    }
  };
  refused("cannot be updated asynchronously by several processes", [](auto& o) {
    o.strategy = StrategyKind::kParameterServer;
    o.async = true;
  });
  refused("cannot be trained on by several processes",
          [](auto& o) { o.devices = ParseDevices("sim:1ms"); });
}

}  // namespace
}  // namespace recpack::train
