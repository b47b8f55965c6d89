#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "recpack/base/error.h"
#include "recpack/train/trainer.h"
#include "src/base/format.h"
#include "tests/train/small_reviews.h"
#include "tests/train/train_run.h"

namespace recpack {
namespace {

using testing::HasSubstr;

TrainerOptions Options(const SmallReviews& data, const std::string& devices = "cpu:0",
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

// The ratings' variance is about 1: who knows nothing of the reviews is not below it.
TEST(DeepconnTraining, PredictsRatingsThatItHasNotSeen) {
  const SmallReviews data(16'000);
  TrainerOptions options = Options(data);
  options.eval_split = "validation";
  options.deepconn = {.max_tokens = 64, .dims = 16, .filters = 64, .kernel = 1, .latent = 32};
  options.optimizer = {.rate = 0.01, .decay = 0};
  options.warmup_epochs = 1;
  options.epochs = 16;
  const Ran ran = Train(options);
  EXPECT_GT(ran.epochs.back().evaluation.samples, 1400u);
  EXPECT_LT(ran.epochs.back().evaluation.loss, 0.87);
  EXPECT_LT(ran.epochs.back().train.loss, 0.87);
}

TEST(DeepconnTraining, GoesOnFromACheckpointAsIfItHadNotStopped) {
  const SmallReviews data(1000);
  const Ran whole = Train(Options(data));
  const TemporaryFolder folder;
  TrainerOptions first = Options(data);
  first.checkpoints = folder.path();
  first.epochs = 1;
  first.max_steps = static_cast<int64_t>(whole.losses.size());  // of the rate's curve
  TrainerOptions rest = Options(data);
  Train(first);
  rest.resume = folder.path();
  const Ran resumed = Train(rest);
  const auto half = static_cast<ptrdiff_t>(whole.losses.size() / 2);
  EXPECT_EQ(resumed.losses, std::vector(whole.losses.begin() + half, whole.losses.end()));
  EXPECT_EQ(resumed.epochs.back().evaluation.loss, whole.epochs.back().evaluation.loss);
}

TEST(DeepconnTraining, DevicesTogetherGiveTheLossesOfOne) {
  const SmallReviews data(500);
  const auto alone = Train(Options(data, "cpu:0", 32)).losses;
  for (const StrategyKind strategy : {StrategyKind::kReplicated, StrategyKind::kParameterServer}) {
    TrainerOptions options = Options(data, "cpu:0,cpu:1", 16);
    options.strategy = strategy;
    const auto together = Train(options).losses;
    ASSERT_EQ(together.size(), alone.size());
    for (size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(together[i], alone[i], 1e-3 * alone[i]);
  }
}

TEST(DeepconnTraining, SaysWhatIsWrongWithTheVocabulary) {
  const SmallReviews data(200);
  TrainerOptions options = Options(data);
  options.deepconn.vocabulary = 5;
  EXPECT_THAT(MessageOf(options), AllOf(HasSubstr("tokens of step 0"), HasSubstr("0 to 4")));
  options.deepconn.vocabulary = 0;
  std::filesystem::remove(data.folder() + "/vocabulary.txt");
  EXPECT_THAT(MessageOf(options), HasSubstr("vocabulary.txt"));
  options.model = "lenet";
  EXPECT_THAT(MessageOf(options), HasSubstr("'lenet'"));
}

}  // namespace
}  // namespace recpack
