// Dispatches of several steps and captured steps: the training is the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/format.h"
#include "tests/base/temporary_folder.h"
#include "tests/train/small_trainings.h"
#include "tests/train/train_run.h"

namespace recpack::train {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TrainerOptions DispatchOptions(const SmallCifar& data, const std::string& devices = "cpu:0") {
  TrainerOptions options = SmallPictures(data, devices);
  options.alexnet = {.filters = 8, .dense = 32};
  return options;
}

void ExpectSame(const Ran& ran, const Ran& expected) {
  EXPECT_EQ(ran.losses, expected.losses);
  ASSERT_EQ(ran.epochs.size(), expected.epochs.size());
  for (size_t i = 0; i < ran.epochs.size(); ++i) {
    EXPECT_EQ(ran.epochs[i].train.loss, expected.epochs[i].train.loss);
    EXPECT_EQ(ran.epochs[i].train.accuracy, expected.epochs[i].train.accuracy);
    EXPECT_EQ(ran.epochs[i].train.samples, expected.epochs[i].train.samples);
    EXPECT_EQ(ran.epochs[i].evaluation.loss, expected.epochs[i].evaluation.loss);
  }
}

// Epochs of 10 steps; dispatches of 1, that end with the epoch, or before it, or are longer.
TEST(Dispatch, OfAnyLengthGivesTheSameBits) {
  const SmallCifar data(80);
  for (const auto& [devices, strategy] : {std::pair("cpu:0", StrategyKind::kReplicated),
                                          {"cpu:0,cpu:1", StrategyKind::kReplicated},
                                          {"cpu:0,cpu:1", StrategyKind::kParameterServer}}) {
    TrainerOptions options = DispatchOptions(data, devices);
    options.strategy = strategy;
    const Ran one = Train(options);
    for (const int64_t steps : {2, 4, 64}) {
      SCOPED_TRACE(format("{}, {} steps", devices, steps));
      options.steps_per_dispatch = steps;
      ExpectSame(Train(options), one);
    }
  }
}

TEST(Dispatch, OfNoStepsIsRefused) {
  const SmallCifar data(80);
  TrainerOptions options = DispatchOptions(data);
  options.steps_per_dispatch = 0;
  EXPECT_THAT(MessageOf(options), HasSubstr("give 1 or more"));
}

TEST(Dispatch, IsCutShortByACheckpoint) {
  const SmallCifar data(80);
  TrainerOptions options = DispatchOptions(data);
  const Ran whole = Train(options);
  const TemporaryFolder folder;
  options.steps_per_dispatch = 4;
  options.checkpoints = folder.path();
  options.checkpoint_steps = 3;
  options.keep_checkpoints = 100;
  ExpectSame(Train(options), whole);
  for (const int64_t step : {3, 6, 12}) {
    SCOPED_TRACE(step);
    TrainerOptions rest = DispatchOptions(data);
    rest.steps_per_dispatch = 7;
    rest.resume = format("{}/step-{:08}.safetensors", folder.path(), step);
    const Ran resumed = Train(rest);
    EXPECT_EQ(resumed.losses, std::vector(whole.losses.begin() + step, whole.losses.end()));
    EXPECT_EQ(resumed.epochs.back().train.loss, whole.epochs.back().train.loss);
  }
}

TEST(Dispatch, EndsWithTheStepsThatWereAskedFor) {
  const SmallCifar data(80);
  TrainerOptions options = DispatchOptions(data);
  options.max_steps = 13;
  const Ran whole = Train(options);
  EXPECT_EQ(whole.losses.size(), 13u);
  options.steps_per_dispatch = 5;
  ExpectSame(Train(options), whole);
}

// The part of `text` between two words.
std::string Between(const std::string& text, const std::string& from, const std::string& to) {
  const size_t begin = text.find(from);
  return begin == std::string::npos ? "" : text.substr(begin, text.find(to, begin) - begin);
}

// The part that names the step and its batch.
std::vector<std::string> Named(const std::string& message) {
  return {Between(message, " of step ", "; "), Between(message, "token is ", ")")};
}

TEST(Dispatch, NamesTheStepAndBatchWhoseLabelsAreOutOfRange) {
  const SmallCifar data(80);
  data.AddLabels(10, 8);
  TrainerOptions options = DispatchOptions(data);
  const auto expected = Named(MessageOf(options));
  EXPECT_THAT(expected, Each(Not(IsEmpty())));
  options.steps_per_dispatch = 6;
  EXPECT_EQ(Named(MessageOf(options)), expected);
}

TEST(Dispatch, NamesTheStepAndBatchWhoseLossIsNoNumber) {
  const SmallCifar data(80);
  TrainerOptions options = DispatchOptions(data);
  options.optimizer.rate = 1e30;
  options.warmup_epochs = 0;
  const std::string alone = MessageOf(options);
  EXPECT_THAT(alone, AllOf(HasSubstr("the loss of step 1 is not"), Not(HasSubstr("later"))));
  options.steps_per_dispatch = 6;
  const std::string several = MessageOf(options);
  EXPECT_THAT(several, HasSubstr("such numbers, 4 steps later, is"));
  EXPECT_EQ(Named(several), Named(alone));
}

TEST(RepeatedSteps, OfPicturesAreThoseThatAreGivenAnewEachTime) {
  const SmallCifar data(80);
  for (const char* model : {"resnet", "alexnet"}) {
    for (const OptimizerKind kind : {OptimizerKind::kSgd, OptimizerKind::kAdam}) {
      for (const InputKind input : {InputKind::kReal, InputKind::kCached}) {
        SCOPED_TRACE(model);
        TrainerOptions options = DispatchOptions(data);
        options.model = model;
        // with a warm-up: the rate changes in each step
        options.optimizer = {.kind = kind, .rate = 0.01};
        options.input = input;
        const Ran repeated = Train(options);
        options.cuda_graphs = false;
        ExpectSame(repeated, Train(options));
      }
    }
  }
}

TEST(RepeatedSteps, OfReviewsAreThoseThatAreGivenAnewEachTime) {
  const SmallReviews data(300);
  TrainerOptions options;
  options.data = data.folder();
  options.model = "deepconn";
  options.deepconn = {.max_tokens = 32, .dims = 8, .filters = 16, .latent = 8, .factors = 4};
  options.threads = 1;
  options.epochs = 2;
  const Ran repeated = Train(options);
  options.cuda_graphs = false;
  ExpectSame(repeated, Train(options));
}

}  // namespace
}  // namespace recpack::train
