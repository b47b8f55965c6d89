// Weight gradients beside input gradients, on an emulated machine: the same training in any order
// of the streams.
#include "src/base/format.h"
#include "tests/train/cuda_emulated/emulated_machine.h"
#include "tests/train/cuda_emulated/emulated_runs.h"

namespace recpack::train {
namespace {

class EmulatedWeightStream : public EmulatedMachine {
 protected:
  static void ExpectTheSameBits(TrainerOptions options) {
    options.weights_beside = options.cuda_graphs = false;
    emulated::SetUp({});
    const auto expected = Train(options).losses;
    const size_t waits = emulated::Calls("cudaStreamWaitEvent");
    options.weights_beside = true;
    for (const bool graphs : {false, true}) {
      for (const uint64_t seed : {2, 3}) {
        SCOPED_TRACE(format("graphs {}, seed {}", graphs, seed));
        emulated::SetUp({.seed = seed});
        options.cuda_graphs = graphs;
        EXPECT_EQ(Train(options).losses, expected);
        if (graphs) continue;
        EXPECT_GT(emulated::Calls("cudaStreamWaitEvent"), waits);
      }
    }
  }
};

TEST_F(EmulatedWeightStream, OfPicturesGivesTheSameBits) {
  const SmallCifar data(24);
  TrainerOptions options = Pictures(data, "cuda:0");
  options.epochs = 1;
  options.evaluate = false;
  ExpectTheSameBits(options);
  options.type = ElementType::kBf16;
  options.fused_norm = false;
  options.layout = ImageLayout::kNchw;
  ExpectTheSameBits(options);
}

TEST_F(EmulatedWeightStream, OfDenseLayersGivesTheSameBits) {
  const SmallCifar data(32);
  TrainerOptions options = Short(data, "cuda:0");
  ExpectTheSameBits(options);
  options.type = ElementType::kBf16;  // its last gradients are f32
  options.optimizer.kind = OptimizerKind::kAdam;
  ExpectTheSameBits(options);
}

TEST_F(EmulatedWeightStream, OfReviewsGivesTheSameBits) {
  const SmallReviews data(40);
  TrainerOptions options = Reviews(data, "cuda:0");
  options.epochs = 1;
  ExpectTheSameBits(options);
}

TEST_F(EmulatedWeightStream, OfSeveralDevicesGivesTheSameBitsByEveryStrategy) {
  const SmallCifar data(48);
  for (const char* devices : {kGpus, kParts}) {
    for (const StrategyKind strategy :
         {StrategyKind::kReplicated, StrategyKind::kDistributedReplicated,
          StrategyKind::kParameterServer}) {
      TrainerOptions options = Short(data, devices);
      options.strategy = strategy;
      options.evaluate = false;
      ExpectTheSameBits(options);
    }
  }
}

}  // namespace
}  // namespace recpack::train
