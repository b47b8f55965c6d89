// Trainings on several emulated GPUs, on logical devices of one GPU, and on GPUs and CPU devices.
#include <gmock/gmock.h>

#include <tuple>

#include "src/train/evaluate/evaluator.h"
#include "tests/train/cuda_emulated/emulated_machine.h"
#include "tests/train/cuda_emulated/emulated_runs.h"
#include "tests/train/joined_processes.h"

namespace recpack::train {
namespace {

using testing::HasSubstr;

class EmulatedDevices : public EmulatedMachine {
 protected:
  static std::string Described(const TrainerOptions& options) {
    return Trainer(options).Describe();
  }
};

TEST_F(EmulatedDevices, GiveTheLossesOfTheCpusByEveryStrategy) {
  const SmallCifar data(32);
  const Ran expected = Train(Short(data, "cpu:0,cpu:1"));
  ASSERT_EQ(expected.losses.size(), 2u);
  for (const char* devices : {kGpus, kParts, "cuda:1,cpu:0", "cpu:0,cuda:0"}) {
    SCOPED_TRACE(devices);
    TrainerOptions options = Short(data, devices);
    const Ran replicated = Train(options);
    ExpectAlmost(replicated, expected, 2e-3);
    EXPECT_GT(replicated.epochs[0].exchange_bytes, 0u);
    options.strategy = StrategyKind::kDistributedReplicated;
    ExpectAlmost(Train(options), expected, 2e-3);
    options.strategy = StrategyKind::kParameterServer;
    for (const VariablePlace place :
         {VariablePlace::kCpu, VariablePlace::kFirstDevice, VariablePlace::kSpread}) {
      options.variables = place;
      ExpectAlmost(Train(options), expected, 2e-3);
    }
  }
}

TEST_F(EmulatedDevices, TogetherGiveTheLossesOfOneWithTheStatisticsOfAll) {
  const SmallCifar data(32);
  TrainerOptions options = Pictures(data, "cuda:0");
  options.max_steps = 3;
  const Ran alone = Train(options);
  options.batch_size /= 2;
  options.norm_sync = true;
  for (const char* devices : {kGpus, kParts}) {
    options.devices = ParseDevices(devices);
    const Ran together = Train(options);
    ASSERT_EQ(together.losses.size(), alone.losses.size());
    EXPECT_NEAR(together.losses[0], alone.losses[0], 1e-4);
    EXPECT_NEAR(together.losses[1], alone.losses[1], 1e-3);
    for (size_t i = 0; i < alone.losses.size(); ++i) {
      EXPECT_TRUE(std::abs(together.losses[i] - alone.losses[i]) <= 0.02 * alone.losses[i]) << i;
    }
  }
}

TEST_F(EmulatedDevices, OfSeveralProcessesGiveTheLossesOfOne) {
  const SmallCifar data(32);
  const Ran expected = Train(Short(data, "cpu:0,cpu:1"));
  for (const auto& [strategy, place] :
       {std::pair(StrategyKind::kReplicated, VariablePlace::kCpu),
        {StrategyKind::kDistributedReplicated, VariablePlace::kCpu},
        {StrategyKind::kParameterServer, VariablePlace::kCpu},
        {StrategyKind::kParameterServer, VariablePlace::kFirstDevice},
        {StrategyKind::kParameterServer, VariablePlace::kSpread}}) {
    SCOPED_TRACE(static_cast<int>(place));
    std::vector<TrainerOptions> processes;
    for (const char* device : {"cuda:0", "cuda:1"}) {
      processes.push_back(Short(data, device));
      processes.back().strategy = strategy;
      processes.back().variables = place;
    }
    const auto ran = TrainProcesses(processes);
    for (const Process& process : ran) EXPECT_EQ(process.failure, "");
    ExpectAlmost(ran[0].ran, expected, 2e-3);
  }
}

// Without NCCL.
TEST_F(EmulatedDevices, ChooseAStrategyByTheirLinks) {
  const SmallCifar data(32);
  for (const auto& [devices, chosen] : {std::pair(kGpus, "parameter_server, variables spread"),
                                        {kParts, "parameter_server, variables on the first device"},
                                        {"cuda:0,cpu:0", "parameter_server, variables on the CPU"},
                                        {"cuda:0", "replicated, for"}}) {
    TrainerOptions options = Short(data, devices);
    options.strategy = StrategyKind::kAuto;
    std::string notices;
    Trainer(options, [&](const std::string& text) { notices += text + "\n"; });
    EXPECT_THAT(notices, HasSubstr(std::string("strategy: ") + chosen)) << devices;
  }
  TrainerOptions options = Short(data, kGpus);
  const Ran expected = Train(options);
  options.strategy = StrategyKind::kAuto;
  EXPECT_EQ(Train(options).losses, expected.losses);
}

TEST_F(EmulatedDevices, AreTheSameBitsWhateverTheOrderOfStreams) {
  const SmallCifar data(32);
  TrainerOptions options = Short(data, kParts);
  const auto expected = Train(options).losses;
  for (const uint64_t seed : {2, 3}) {
    emulated::SetUp({.seed = seed});
    EXPECT_EQ(Train(options).losses, expected) << "seed " << seed;
    options.devices = ParseDevices(kGpus);
    EXPECT_EQ(Train(options).losses, expected) << "seed " << seed;
  }
}

// The server computes the same sums and updates as replicated variables, in another place.
TEST_F(EmulatedDevices, HaveAServerOnGpusThatGivesTheBitsOfReplicatedVariables) {
  const SmallCifar data(48);
  for (const char* devices : {kGpus, kParts}) {
    TrainerOptions options = Short(data, devices);
    const Ran expected = Train(options);
    options.strategy = StrategyKind::kParameterServer;
    for (const VariablePlace place : {VariablePlace::kFirstDevice, VariablePlace::kSpread}) {
      options.variables = place;
      EXPECT_THAT(Described(options), HasSubstr("copied from GPU to GPU"));
      for (const uint64_t seed : {1, 2, 3}) {
        emulated::SetUp({.seed = seed});
        const Ran ran = Train(options);
        EXPECT_EQ(ran.losses, expected.losses) << devices << ", seed " << seed;
        // Each variable and each gradient is copied once per step, and variables again in Settle().
        const uint64_t variables = 10, steps = ran.losses.size();
        EXPECT_EQ(ran.epochs[0].exchange_calls, 2 * variables * (2 * steps + 1));
      }
    }
  }
}

TEST_F(EmulatedDevices, AllEndWhereOneFails) {
  const SmallCifar data(64);
  emulated::FailWork(1, cudaErrorLaunchFailure, 150);
  EXPECT_THAT(MessageOf(Short(data, kGpus)), HasSubstr("cudaErrorLaunchFailure"));
}

TEST_F(EmulatedDevices, GoOnFromACheckpointAsIfTheyHadNotStopped) {
  const SmallCifar data(16);
  for (const StrategyKind strategy :
       {StrategyKind::kReplicated, StrategyKind::kDistributedReplicated,
        StrategyKind::kParameterServer}) {
    TrainerOptions options = Short(data, kGpus);
    options.epochs = 2;
    options.batch_size = 4;
    options.strategy = strategy;
    options.variables = VariablePlace::kSpread;
    ExpectResumes(options, options, Train(options));
  }
}

TEST_F(EmulatedDevices, LearnByAsynchronousUpdates) {
  const SmallCifar data(32);
  TrainerOptions options = Short(data, kGpus);
  options.strategy = StrategyKind::kParameterServer;
  options.variables = VariablePlace::kSpread;
  options.async = true;
  options.epochs = 6;
  options.optimizer.rate = 0.01;
  const Ran ran = Train(options);
  EXPECT_LT(ran.epochs.back().train.loss, ran.epochs.front().train.loss);
}

TEST_F(EmulatedDevices, HaveOneModelWithTheCopiesOfItsGraph) {
  const SmallReviews data(60);
  const Ran alone = Train(Reviews(data, "cuda:0"));
  const struct {
    const char* devices;
    const char* place;
    uint64_t copies;  // per step, counted by hand
  } cases[] = {{kGpus, "user=cuda:0,item=cuda:1", 4},
               {"cuda:1,cuda:0", "item=cuda:0", 4},
               {kGpus, "alternate", 22},
               {kParts, "user=cuda:0/0,item=cuda:0/1", 4},
               {kParts, "alternate", 22},
               {"cpu:0,cuda:1", "user=cpu:0,item=cuda:1", 4},
               {"cuda:0,cpu:0", "alternate", 22}};
  for (const auto& of : cases) {
    SCOPED_TRACE(std::string(of.devices) + " " + of.place);
    emulated::SetUp({.seed = 5});
    TrainerOptions options = Reviews(data, of.devices);
    options.place = of.place;
    const Ran placed = Train(options);
    const auto steps = alone.losses.size() / alone.epochs.size();
    for (const EpochReport& epoch : placed.epochs) {
      EXPECT_EQ(epoch.transfers.calls, of.copies * steps);
    }
    const bool cpu = std::string(of.devices).find("cpu") != std::string::npos;
    ExpectAlmost(placed, alone, 2e-3);
    if (cpu) continue;
    EXPECT_EQ(placed.losses, alone.losses);
    const bool two = std::string(of.devices) != kParts;
    EXPECT_EQ(emulated::Calls("cudaMemcpyPeerAsync") >= 2 * of.copies * steps, two);
  }
}

TEST_F(EmulatedDevices, HaveTablesAndWindowsOfOneModelWithTheBitsOfOneDevice) {
  const SmallReviews data(60);
  for (const auto& [tables, window, copies] :
       {std::tuple(WordTables::kSeparate, 0, 27), {WordTables::kShared, 2, 30}}) {
    emulated::SetUp({.seed = 5});
    TrainerOptions options = Reviews(data, "cuda:0");
    options.deepconn.tables = tables;
    options.deepconn.pool_window = window;
    const Ran alone = Train(options);
    options.devices = ParseDevices(kGpus);
    options.place = "alternate";
    const Ran placed = Train(options);
    EXPECT_EQ(placed.losses, alone.losses);
    const auto steps = alone.losses.size() / alone.epochs.size();
    for (const EpochReport& epoch : placed.epochs) {
      EXPECT_EQ(epoch.transfers.calls, static_cast<uint64_t>(copies) * steps);
    }
  }
}

TEST_F(EmulatedDevices, NameTheFirstLayerOfNumbersThatAreNone) {
  const SmallReviews data(60);
  for (const auto& [devices, place] : {std::pair(kGpus, "one"),
                                       {kGpus, "alternate"},
                                       {"cpu:0,cuda:1", "alternate"},
                                       {"cuda:0,cpu:0", "user=cpu:0"}}) {
    TrainerOptions options = Reviews(data, devices);
    options.place = place;
    options.optimizer.rate = 1e30;
    options.warmup_epochs = 0;
    EXPECT_THAT(MessageOf(options), HasSubstr("is not a number; the first layer")) << devices;
  }
}

TEST_F(EmulatedDevices, ThatAreNotThereAreRefusedOrReplaced) {
  const SmallCifar data(32);
  TrainerOptions options = Short(data, "cuda:0,cuda:2");
  EXPECT_THAT(MessageOf(options),
              AllOf(HasSubstr("there is no cuda:2: this machine has 2 GPUs"), HasSubstr("cpu:0")));
  options.soft_placement = true;
  std::string told;
  Trainer trainer(options, [&](const std::string& text) { told += text; });
  EXPECT_THAT(told, HasSubstr("cpu:0 takes the place of cuda:2"));
  EXPECT_THAT(trainer.Describe(), AllOf(HasSubstr("cuda:0: CUDA"), HasSubstr("cpu:0: CPU")));
}

TEST_F(EmulatedDevices, SayWhichOneHasNoMemory) {
  const SmallCifar data(32);
  emulated::SetUp({.memory = size_t{5} << 20});  // one device needs more than half of it
  EXPECT_EQ(MessageOf(Short(data, kGpus)), "");
  EXPECT_THAT(MessageOf(Short(data, "cuda:1/0,cuda:1/1")),
              AllOf(HasSubstr("cuda:1 has no memory for"), HasSubstr("for batches of 8 samples on"),
                    HasSubstr("fewer devices")));
}

TEST_F(EmulatedDevices, EvaluateAndClassifyAsTheCpuDoes) {
  const SmallCifar data(20);
  const TemporaryFolder folder;
  TrainerOptions options = Short(data, kGpus);
  options.checkpoints = folder.path();
  Train(options);
  const std::vector<uint8_t> picture(32 * 32 * 3, 90);
  const auto evaluator = [&](const std::string& device) {
    return Evaluator({.checkpoint = folder.path(),
                      .batch_size = 8,
                      .device = ParseDevices(device)[0],
                      .threads = 1});
  };
  Evaluator on_cpu = evaluator("cpu:0");
  const Score expected = on_cpu.Evaluate({.data = data.folder()}).score;
  const auto shares = on_cpu.Classify(picture.data());
  for (const char* device : {"cuda:0", "cuda:1"}) {
    Evaluator on_gpu = evaluator(device);
    const Score score = on_gpu.Evaluate({.data = data.folder()}).score;
    EXPECT_EQ(score.samples, expected.samples);
    ExpectAlmost(score.loss, expected.loss, 1e-3);
    const auto seen = on_gpu.Classify(picture.data());
    ASSERT_EQ(seen.size(), shares.size());
    for (size_t i = 0; i < seen.size(); ++i) EXPECT_NEAR(seen[i], shares[i], 1e-3);
    try {
      on_gpu.EvaluateQuantised({.data = data.folder()});
      FAIL() << device;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("int8 does not run on"));
    }
  }
  EXPECT_THROW(evaluator("cuda:7"), Error);
}

}  // namespace
}  // namespace recpack::train
