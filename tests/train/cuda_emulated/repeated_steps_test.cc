// Steps captured as CUDA graphs on an emulated machine: the training is bit-identical to one
// without, and work that cannot be captured is enqueued as before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/format.h"
#include "tests/train/cuda_emulated/emulated_machine.h"
#include "tests/train/small_trainings.h"
#include "tests/train/train_run.h"

namespace recpack::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// 4 steps per epoch; the rate rises for 2 of them and falls afterwards.
constexpr int kRecords = 16;

TrainerOptions Pictures(const SmallCifar& data) {
  TrainerOptions options = SmallPictures(data, "cuda:0", 4);
  options.batch_size = 4;
  options.optimizer.rate = 0.02;
  return options;
}

TrainerOptions Reviews(const SmallReviews& data) {
  TrainerOptions options = SmallReviewsTraining(data, "cuda:0");
  options.deepconn.max_tokens = 16;
  options.batch_size = 4;
  return options;
}

void ExpectSame(const Ran& ran, const Ran& expected) {
  EXPECT_EQ(ran.losses, expected.losses);
  ASSERT_EQ(ran.epochs.size(), expected.epochs.size());
  EXPECT_EQ(ran.epochs.back().train.loss, expected.epochs.back().train.loss);
  EXPECT_EQ(ran.epochs.back().evaluation.loss, expected.epochs.back().evaluation.loss);
}

class EmulatedSteps : public EmulatedMachine {
 protected:
  static size_t Captured() { return emulated::Calls("cudaStreamBeginCapture"); }
  static size_t Launched() { return emulated::Calls("cudaGraphLaunch"); }
  // The first of a kind is enqueued without a graph.
  static size_t AllButOne(size_t launches) { return launches > 0 ? launches - 1 : 0; }

  // With graphs, another order of streams each time, and several dispatch lengths.
  static void ExpectGraphsAreTheSameBits(TrainerOptions options) {
    options.cuda_graphs = false;
    emulated::SetUp({});
    const Ran plain = Train(options);
    EXPECT_EQ(Launched(), 0u);
    options.cuda_graphs = true;
    uint64_t seed = 1;
    for (const int64_t steps : {1, 3}) {
      SCOPED_TRACE(format("{} steps a dispatch", steps));
      emulated::SetUp({.seed = ++seed});
      options.steps_per_dispatch = steps;
      ExpectSame(Train(options), plain);
      const size_t epochs = plain.epochs.size(), of_epoch = plain.losses.size() / epochs;
      const auto at_once = static_cast<size_t>(steps);
      EXPECT_EQ(Launched(), (at_once > 1 ? AllButOne(epochs * (of_epoch / at_once)) : 0) +
                                AllButOne(epochs * (at_once > 1 ? of_epoch % at_once : of_epoch)));
      if (at_once == 1) {
        EXPECT_LE(Captured(), 3u) << "places that the feeder brings batches to";
      }
    }
  }
};

TEST_F(EmulatedSteps, OfPicturesGiveTheSameBits) {
  const SmallCifar data(kRecords);
  for (const OptimizerKind kind : {OptimizerKind::kSgd, OptimizerKind::kAdam}) {
    TrainerOptions options = Pictures(data);
    options.optimizer.kind = kind;
    ExpectGraphsAreTheSameBits(options);
  }
}

TEST_F(EmulatedSteps, OfReviewsGiveTheSameBits) {
  const SmallReviews data(60);
  for (const OptimizerKind kind : {OptimizerKind::kSgd, OptimizerKind::kAdam}) {
    TrainerOptions options = Reviews(data);
    options.optimizer.kind = kind;
    ExpectGraphsAreTheSameBits(options);
  }
}

TEST_F(EmulatedSteps, OfTheOtherTypeLayoutAndNormGiveTheSameBits) {
  const SmallCifar data(kRecords);
  TrainerOptions options = Pictures(data);
  options.evaluate = false;
  options.type = ElementType::kBf16;
  options.layout = ImageLayout::kNchw;
  options.fused_norm = false;
  ExpectGraphsAreTheSameBits(options);
}

TEST_F(EmulatedSteps, OfAlexnetGiveTheSameBits) {
  const SmallCifar data(kRecords);
  TrainerOptions options = Pictures(data);
  options.model = "alexnet";
  options.alexnet = {.filters = 4, .dense = 16};
  ExpectGraphsAreTheSameBits(options);
}

TEST_F(EmulatedSteps, GoOnFromACheckpointWithinADispatch) {
  const SmallCifar data(kRecords);
  TrainerOptions options = Pictures(data);
  options.steps_per_dispatch = 4;
  const Ran whole = Train(options);
  const TemporaryFolder folder;
  TrainerOptions first = options;
  first.checkpoints = folder.path();
  first.checkpoint_steps = 3;
  first.keep_checkpoints = 100;
  ExpectSame(Train(first), whole);
  TrainerOptions rest = options;
  rest.resume = folder.path() + "/step-00000003.safetensors";
  const Ran resumed = Train(rest);
  EXPECT_EQ(resumed.losses, std::vector(whole.losses.begin() + 3, whole.losses.end()));
  EXPECT_EQ(resumed.epochs.back().train.loss, whole.epochs.back().train.loss);
}

// The loss is read after the next dispatch was enqueued, and the error names its own step.
TEST_F(EmulatedSteps, NameTheStepWhoseLossIsNoNumber) {
  const SmallCifar data(kRecords);
  TrainerOptions options = Pictures(data);
  options.optimizer.rate = 1e30;
  options.warmup_epochs = 0;
  EXPECT_THAT(MessageOf(options), HasSubstr("the loss of step 1 is not a number; the first layer "
                                            "with such numbers, 1 steps later, is"));
  options.steps_per_dispatch = 2;
  EXPECT_THAT(MessageOf(options), HasSubstr("the loss of step 1 is not a number; the first layer "
                                            "with such numbers, 2 steps later, is"));
}

struct Told {
  Ran ran;
  std::string described;
  std::vector<std::string> notices;
};

Told TrainAndListen(const TrainerOptions& options) {
  Told told;
  Trainer trainer(options, [&](const std::string& text) { told.notices.push_back(text); });
  told.described = trainer.Describe();
  trainer.Run([&](const EpochReport& report) { told.ran.epochs.push_back(report); });
  told.ran.losses = trainer.losses();
  return told;
}

TEST_F(EmulatedSteps, AreSaidToBeAndWhereTheyAreNotWhy) {
  const SmallCifar data(kRecords);
  TrainerOptions options = Pictures(data);
  options.max_steps = 1;
  options.steps_per_dispatch = 4;
  EXPECT_THAT(TrainAndListen(options).described,
              HasSubstr("; 4 steps are a CUDA graph, 4 steps a dispatch"));
  options.steps_per_dispatch = 1;
  EXPECT_THAT(TrainAndListen(options).described, HasSubstr("; a step is a CUDA graph"));
  options.strategy = StrategyKind::kParameterServer;
  EXPECT_THAT(TrainAndListen(options).described,
              HasSubstr("; no CUDA graphs: the host moves variables in each step"));
  options.strategy = StrategyKind::kReplicated;
  options.cuda_graphs = false;
  EXPECT_THAT(TrainAndListen(options).described,
              HasSubstr("; no CUDA graphs: they were not asked for"));
}

TEST_F(EmulatedSteps, ThatCannotBeCapturedAreEnqueuedAsBefore) {
  const SmallCifar data(kRecords);
  TrainerOptions options = Pictures(data);
  options.train_split = "train";  // chosen without a notice
  const Ran whole = Train(options);
  emulated::SetUp({});
  TrainerOptions first = options;
  first.evaluate = false;
  first.max_steps = 1;
  Train(first);
  const auto launches = static_cast<int>(emulated::Calls("cudaLaunchKernelEx"));
  for (const auto& [call, skip] : {std::pair("cudaStreamBeginCapture", 0),
                                   {"cudaGraphInstantiate", 0},
                                   {"cudaLaunchKernelEx", launches + 20}}) {
    SCOPED_TRACE(call);
    emulated::SetUp({});
    emulated::FailCall(call, cudaErrorStreamCaptureUnsupported, skip);
    const Told told = TrainAndListen(options);
    ExpectSame(told.ran, whole);
    EXPECT_EQ(Launched(), 0u);
    EXPECT_THAT(told.notices, ElementsAre(HasSubstr("steps are enqueued operation by operation")));
    EXPECT_THAT(told.notices, ElementsAre(HasSubstr("cudaErrorStreamCaptureUnsupported")));
  }
}

}  // namespace
}  // namespace recpack::train
