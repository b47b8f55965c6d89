// Whole trainings on emulated CUDA devices, compared with those on the CPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/train/cpu/cpu_ops.h"
#include "tests/train/cuda_emulated/emulated_machine.h"
#include "tests/train/cuda_emulated/emulated_runs.h"

namespace recpack::train {
namespace {

using testing::HasSubstr;

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
  options.type = ElementType::kBf16;
  TrainerOptions on_cpu = options;
  on_cpu.devices = ParseDevices("cpu:0");
  if (!MakeCpuOps()->Computes(ElementType::kBf16)) on_cpu.type = ElementType::kF32;
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
  emulated::SetUp({.memory = size_t{4} << 20});
  const SmallCifar data(20);
  EXPECT_THAT(
      MessageOf(Pictures(data, "cuda:0")),
      AllOf(HasSubstr("cuda:0 has no memory for"), HasSubstr("more bytes: "),
            HasSubstr("for batches of 8 samples on"), HasSubstr("use a smaller --batch-size")));
}

TEST_F(EmulatedTraining, TellsOfADeviceThatFails) {
  const SmallCifar data(20);
  emulated::FailWork(0, cudaErrorLaunchFailure, 500);
  EXPECT_THAT(MessageOf(Pictures(data, "cuda:0")), HasSubstr("cudaErrorLaunchFailure"));
}

}  // namespace
}  // namespace recpack::train
