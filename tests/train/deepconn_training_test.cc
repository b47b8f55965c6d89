#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "src/train/run/trainer.h"
#include "tests/train/small_reviews.h"
#include "tests/train/train_run.h"

namespace recpack::train {
namespace {

using testing::HasSubstr;

TrainerOptions DeepConnOptions(const SmallReviews& data, const std::string& devices = "cpu:0",
                               uint32_t batch_size = 32) {
  TrainerOptions options;
  options.data = data.folder();
  options.model = "deepconn";
  options.deepconn = {.max_tokens = 64, .dims = 16, .filters = 32, .latent = 16, .factors = 8};
  options.devices = ParseDevices(devices);
  options.threads = 1;
  options.batch_size = batch_size;
  options.epochs = 2;
  options.optimizer.rate = 0.02;
  return options;
}

// With default options. The ratings' variance is about 1, so a model that learns nothing from the
// reviews has a squared error of at least 1.
TEST(DeepconnTraining, LearnsByDefaultWhatRatesReviewsThatItHasNotSeen) {
  const SmallReviews data(10'000);
  TrainerOptions options;
  options.data = data.folder();
  options.model = "deepconn";
  options.threads = 1;
  const Ran ran = Train(options);
  EXPECT_GT(ran.epochs.back().evaluation.samples, 900u);
  EXPECT_LT(ran.epochs.back().evaluation.loss, 0.75);
  EXPECT_LT(ran.epochs.back().train.loss, 0.75);
}

class ByOptimizer : public testing::TestWithParam<OptimizerKind> {};

TEST_P(ByOptimizer, GoesOnFromACheckpointAsIfItHadNotStopped) {
  const SmallReviews data(500);
  for (const char* devices : {"cpu:0", "cpu:0,cpu:1"}) {
    for (const StrategyKind strategy : {StrategyKind::kReplicated, StrategyKind::kParameterServer,
                                        StrategyKind::kDistributedReplicated}) {
      TrainerOptions options = DeepConnOptions(data, devices);
      options.optimizer = {.kind = GetParam(), .rate = 0.01};
      options.strategy = strategy;
      const Ran whole = Train(options);
      ExpectResumes(options, options, whole);
    }
  }
}

TEST_P(ByOptimizer, StrategiesAndPlacementsGiveTheSameLosses) {
  const SmallReviews data(500);
  const auto losses = [&](const char* devices, StrategyKind strategy, const char* place) {
    TrainerOptions options = DeepConnOptions(data, devices);
    options.optimizer = {.kind = GetParam(), .rate = 0.01};
    options.strategy = strategy;
    options.place = place;
    return Train(options).losses;
  };
  const auto one = losses("cpu:0", StrategyKind::kReplicated, "one");
  EXPECT_EQ(losses("cpu:0", StrategyKind::kParameterServer, "one"), one);
  EXPECT_EQ(losses("cpu:0,cpu:1", StrategyKind::kReplicated, "alternate"), one);
  const auto two = losses("cpu:0,cpu:1", StrategyKind::kReplicated, "one");
  EXPECT_EQ(losses("cpu:0,cpu:1", StrategyKind::kParameterServer, "one"), two);
  EXPECT_EQ(losses("cpu:0,cpu:1", StrategyKind::kDistributedReplicated, "one"), two);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ByOptimizer,
                         testing::Values(OptimizerKind::kSgd, OptimizerKind::kAdam));

TEST(DeepconnTraining, ACheckpointOfAnotherOptimizerIsRefused) {
  const SmallReviews data(500);
  const TemporaryFolder folder;
  TrainerOptions options = DeepConnOptions(data);
  options.optimizer.kind = OptimizerKind::kSgd;
  options.checkpoints = folder.path();
  options.epochs = 1;
  options.schedule_epochs = 2;
  Train(options);
  options.checkpoints.clear();
  options.resume = folder.path();
  options.epochs = 2;
  options.optimizer.kind = OptimizerKind::kAdam;
  EXPECT_THAT(MessageOf(options),
              AllOf(HasSubstr("of a training by sgd, not by adam"), HasSubstr("--optimizer sgd")));
  options.optimizer.kind = OptimizerKind::kSgd;
  EXPECT_EQ(MessageOf(options), "");
}

TEST(DeepconnTraining, DevicesTogetherGiveTheLossesOfOne) {
  const SmallReviews data(500);
  const auto alone = Train(DeepConnOptions(data, "cpu:0", 32)).losses;
  for (const StrategyKind strategy : {StrategyKind::kReplicated, StrategyKind::kParameterServer}) {
    TrainerOptions options = DeepConnOptions(data, "cpu:0,cpu:1", 16);
    options.strategy = strategy;
    const auto together = Train(options).losses;
    ASSERT_EQ(together.size(), alone.size());
    for (size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(together[i], alone[i], 1e-3 * alone[i]);
  }
}

TEST(DeepconnTraining, SaysWhatIsWrongWithTheVocabulary) {
  const SmallReviews data(200);
  TrainerOptions options = DeepConnOptions(data);
  options.deepconn.vocabulary = 5;
  EXPECT_THAT(MessageOf(options), AllOf(HasSubstr("tokens of step 0"), HasSubstr("0 to 4")));
  options.deepconn.vocabulary = 0;
  std::filesystem::remove(data.folder() + "/vocabulary.txt");
  EXPECT_THAT(MessageOf(options), HasSubstr("vocabulary.txt"));
  options.model = "lenet";
  EXPECT_THAT(MessageOf(options), HasSubstr("'lenet'"));
}

}  // namespace
}  // namespace recpack::train
