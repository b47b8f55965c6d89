// Whole trainings on emulated CUDA devices against those on the CPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/train/cuda_emulated/emulated_machine.h"
#include "tests/train/small_cifar.h"
#include "tests/train/small_reviews.h"
#include "tests/train/train_run.h"

namespace recpack {
namespace {

using testing::HasSubstr;

TrainerOptions Pictures(const SmallCifar& data, const std::string& devices) {
  TrainerOptions options;
  options.data = data.folder();
  options.resnet.width = 4;
  options.devices = ParseDevices(devices);
  options.threads = 1;
  options.batch_size = 8;
  options.epochs = 2;
  options.warmup_epochs = 0;
  options.optimizer.rate = 0.02;
  options.seed = 3;
  return options;
}

TrainerOptions Reviews(const SmallReviews& data, const std::string& devices) {
  TrainerOptions options;
  options.model = "deepconn";
  options.data = data.folder();
  options.deepconn = {.max_tokens = 32, .dims = 8, .filters = 8, .latent = 8, .factors = 4};
  options.devices = ParseDevices(devices);
  options.threads = 1;
  options.batch_size = 8;
  options.epochs = 2;
  options.seed = 3;
  return options;
}

// Sums are added up in another order: within `tolerance` of it, and of 1.
void ExpectAlmost(double seen, double expected, double tolerance) {
  EXPECT_TRUE(std::abs(seen - expected) <= tolerance * (1 + std::abs(expected)))
      << seen << " is not almost " << expected;
}

void ExpectAlmost(const Ran& seen, const Ran& expected, double tolerance) {
  ASSERT_EQ(seen.losses.size(), expected.losses.size());
  for (size_t i = 0; i < seen.losses.size(); ++i) {
    ExpectAlmost(seen.losses[i], expected.losses[i], tolerance);
  }
  ASSERT_EQ(seen.epochs.size(), expected.epochs.size());
  for (size_t i = 0; i < seen.epochs.size(); ++i) {
    EXPECT_EQ(seen.epochs[i].evaluation.samples, expected.epochs[i].evaluation.samples);
    ExpectAlmost(seen.epochs[i].evaluation.loss, expected.epochs[i].evaluation.loss, tolerance);
  }
}

class EmulatedTraining : public EmulatedMachine {};

TEST_F(EmulatedTraining, OfPicturesGivesTheLossesOfTheCpu) {
  const SmallCifar data(20);
  const Ran expected = Train(Pictures(data, "cpu:0"));
  for (const bool fused : {true, false}) {
    TrainerOptions options = Pictures(data, "cuda:0");
    options.fused_norm = fused;
    ExpectAlmost(Train(options), expected, 2e-3);
  }
}

TEST_F(EmulatedTraining, OfPicturesInTheOtherLayoutAndTypeGivesAboutTheLossesOfTheCpu) {
  const SmallCifar data(20);
  TrainerOptions options = Pictures(data, "cuda:0");
  options.epochs = 1;
  options.layout = ImageLayout::kNchw;
  options.type = ValueType::kBf16;
  TrainerOptions on_cpu = options;
  on_cpu.devices = ParseDevices("cpu:0");
  ExpectAlmost(Train(options), Train(on_cpu), 0.05);
}

TEST_F(EmulatedTraining, OfReviewsGivesTheLossesOfTheCpu) {
  const SmallReviews data(60);
  ExpectAlmost(Train(Reviews(data, "cuda:0")), Train(Reviews(data, "cpu:0")), 2e-3);
}

TEST_F(EmulatedTraining, IsTheSameBitsAgainWhateverTheOrderOfStreams) {
  const SmallCifar data(20);
  const Ran expected = Train(Pictures(data, "cuda:0"));
  emulated::SetUp({.seed = 2, .early = 2});
  EXPECT_EQ(Train(Pictures(data, "cuda:0")).losses, expected.losses);
}

TEST_F(EmulatedTraining, GoesOnFromACheckpointAsIfItHadNotStopped) {
  const SmallCifar data(20);
  const TrainerOptions options = Pictures(data, "cuda:0");
  ExpectResumes(options, options, Train(options));
}

TEST_F(EmulatedTraining, TellsOfMemoryThatRunsOut) {
  emulated::SetUp({.memory = size_t{34} << 20});
  const SmallCifar data(20);
  EXPECT_THAT(MessageOf(Pictures(data, "cuda:0")), HasSubstr("the GPU has no memory for"));
}

TEST_F(EmulatedTraining, TellsOfADeviceThatFails) {
  const SmallCifar data(20);
  emulated::FailWork(0, cudaErrorLaunchFailure, 500);
  EXPECT_THAT(MessageOf(Pictures(data, "cuda:0")), HasSubstr("cudaErrorLaunchFailure"));
}

}  // namespace
}  // namespace recpack
