// Steps of several emulated devices, captured as CUDA graphs up to the host's sums.
#include <gmock/gmock.h>

#include "tests/train/cuda_emulated/emulated_machine.h"
#include "tests/train/cuda_emulated/emulated_runs.h"
#include "tests/train/joined_processes.h"

namespace recpack::train {
namespace {

using testing::HasSubstr;

class EmulatedDeviceGraphs : public EmulatedMachine {
 protected:
  static size_t Launched() { return emulated::Calls("cudaGraphLaunch"); }

  // `launches`: per step, over all devices; the first step is enqueued without a graph.
  static void ExpectTheSameBits(TrainerOptions options, size_t launches) {
    options.epochs = 2;
    options.cuda_graphs = false;
    emulated::SetUp({});
    const Ran plain = Train(options);
    EXPECT_EQ(Launched(), 0u);
    options.cuda_graphs = true;
    for (const uint64_t seed : {2, 3}) {
      emulated::SetUp({.seed = seed});
      const Ran ran = Train(options);
      EXPECT_EQ(ran.losses, plain.losses) << "seed " << seed;
      EXPECT_EQ(ran.epochs.back().evaluation.loss, plain.epochs.back().evaluation.loss);
      EXPECT_EQ(Launched(), launches * (plain.losses.size() - 1));
    }
  }
};

TEST_F(EmulatedDeviceGraphs, OfReplicatedVariablesGiveTheSameBits) {
  const SmallCifar data(64);
  for (const auto& [devices, gpus] :
       {std::pair(kGpus, 2), std::pair(kParts, 2), std::pair("cuda:1,cpu:0", 1)}) {
    SCOPED_TRACE(devices);
    // Gradients, and the update.
    ExpectTheSameBits(Short(data, devices), static_cast<size_t>(2 * gpus));
  }
  TrainerOptions options = Short(data, kGpus);
  options.optimizer.kind = OptimizerKind::kAdam;
  options.steps_per_dispatch = 2;
  ExpectTheSameBits(options, 4);
}

TEST_F(EmulatedDeviceGraphs, OfAMasterCopyGiveTheSameBits) {
  const SmallCifar data(64);
  TrainerOptions options = Short(data, kGpus);
  options.strategy = StrategyKind::kDistributedReplicated;
  ExpectTheSameBits(options, 2);
}

TEST_F(EmulatedDeviceGraphs, OfSeveralProcessesGiveTheSameBits) {
  const SmallCifar data(64);
  const auto losses = [&](bool graphs) {
    emulated::SetUp({});
    std::vector<TrainerOptions> processes;
    for (const char* device : {"cuda:0", "cuda:1"}) {
      processes.push_back(Short(data, device));
      processes.back().cuda_graphs = graphs;
    }
    const auto ran = TrainProcesses(processes);
    for (const Process& process : ran) EXPECT_EQ(process.failure, "");
    EXPECT_EQ(Launched() > 0, graphs);
    return ran[0].ran.losses;
  };
  EXPECT_EQ(losses(true), losses(false));
}

TEST_F(EmulatedDeviceGraphs, GoOnWithoutWhereTheyAreRefused) {
  const SmallCifar data(64);
  TrainerOptions options = Short(data, kGpus);
  const auto expected = Train(options).losses;
  for (const char* call : {"cudaStreamBeginCapture", "cudaGraphInstantiate"}) {
    emulated::SetUp({});
    emulated::FailCall(call, cudaErrorStreamCaptureUnsupported);
    EXPECT_EQ(Train(options).losses, expected) << call;
  }
}

TEST_F(EmulatedDeviceGraphs, AreSaidToBe) {
  const SmallCifar data(64);
  TrainerOptions options = Short(data, kGpus);
  EXPECT_THAT(Trainer(options).Describe(), HasSubstr("; a step is two CUDA graphs, before"));
  options.strategy = StrategyKind::kDistributedReplicated;
  EXPECT_THAT(Trainer(options).Describe(), HasSubstr("; a step is a CUDA graph up to the sums"));
  options.norm_sync = true;
  EXPECT_THAT(Trainer(options).Describe(),
              HasSubstr("no CUDA graphs: the host adds up statistics of batches"));
}

}  // namespace
}  // namespace recpack::train
