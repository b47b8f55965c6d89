// Trainings whose gradients NCCL sums on the emulated machine, with one process and with several.
#include <gmock/gmock.h>

#include "src/base/format.h"
#include "src/train/collectives/nccl/nccl_collective.h"
#include "tests/train/cuda_emulated/emulated_machine.h"
#include "tests/train/cuda_emulated/emulated_runs.h"
#include "tests/train/cuda_emulated/nccl_faults.h"
#include "tests/train/joined_processes.h"

namespace recpack::train {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Several = std::vector<TrainerOptions>;

class NcclTraining : public EmulatedMachine {
 protected:
  void TearDown() override {
    EXPECT_EQ(emulated::LiveCommunicators(), 0u);
    EmulatedMachine::TearDown();
  }

  static TrainerOptions On(const SmallCifar& data, const std::string& devices) {
    TrainerOptions options = Short(data, devices);
    options.between_gpus = NcclCollectives();
    return options;
  }
  static size_t Sums() { return emulated::Calls("ncclAllReduce"); }
  static std::string Described(const TrainerOptions& options) {
    return Trainer(options).Describe();
  }

  // Losses of the first process; none may fail.
  static Ran Together(const Several& options) {
    const auto processes = TrainProcesses(options);
    for (const Process& process : processes) {
      EXPECT_EQ(process.failure, "");
      EXPECT_EQ(process.ran.losses, processes[0].ran.losses);
    }
    return processes[0].ran;
  }
};

TEST_F(NcclTraining, BetweenGraphsGivesTheSameBits) {
  const SmallCifar data(64);
  TrainerOptions options = On(data, kGpus);
  options.epochs = 2;
  options.cuda_graphs = false;
  const auto plain = Train(options).losses;
  EXPECT_EQ(emulated::Calls("cudaGraphLaunch"), 0u);
  options.cuda_graphs = true;
  for (const uint64_t seed : {2, 3}) {
    emulated::SetUp({.seed = seed});
    EXPECT_EQ(Train(options).losses, plain) << "seed " << seed;
    // Per GPU and step after the first: gradients, and the update.
    EXPECT_EQ(emulated::Calls("cudaGraphLaunch"), 2 * 2 * (plain.size() - 1));
    EXPECT_GE(Sums(), 2 * plain.size());
  }
}

// The emulated sums are in rank order, like those in host memory.
TEST_F(NcclTraining, OfOneProcessSumsOnTheGpus) {
  const SmallCifar data(32);
  TrainerOptions options = On(data, "cuda:0,cuda:1");
  options.sums = SumPlace::kHost;
  EXPECT_THAT(Described(options), HasSubstr("host memory: as requested"));
  const Ran on_host = Train(options);
  const size_t pinned = emulated::Calls("cudaHostAlloc");
  EXPECT_EQ(Sums(), 0u);
  options.sums = SumPlace::kAuto;
  EXPECT_THAT(Described(options), HasSubstr("gradients are summed by NCCL"));
  for (const uint64_t seed : {1, 2, 3}) {
    emulated::SetUp({.seed = seed});
    EXPECT_EQ(Train(options).losses, on_host.losses) << "seed " << seed;
    EXPECT_GE(Sums(), 2 * on_host.losses.size()) << "of each device and step";
    EXPECT_LT(emulated::Calls("cudaHostAlloc"), pinned) << "no gradient passes the host";
  }
}

TEST_F(NcclTraining, OfProcessesWithAGpuEachIsThatOfOneProcess) {
  const SmallCifar data(64);
  const Ran alone = Train(On(data, "cuda:0,cuda:1"));
  for (const uint64_t seed : {1, 2}) {
    emulated::SetUp({.seed = seed});
    const Ran together = Together({On(data, "cuda:0"), On(data, "cuda:1")});
    EXPECT_EQ(together.losses, alone.losses);
    EXPECT_EQ(together.epochs[0].evaluation.loss, alone.epochs[0].evaluation.loss);
    EXPECT_GE(Sums(), 2 * alone.losses.size());
  }
}

TEST_F(NcclTraining, OfProcessesWithSeveralGpusSumsOverAllOfThem) {
  emulated::SetUp({.devices = 5});
  const SmallCifar data(80);
  const Ran alone = Train(On(data, "cuda:0,cuda:1,cuda:2,cuda:3,cuda:4"));
  emulated::SetUp({.devices = 5, .seed = 2});
  TrainerOptions first = On(data, "cuda:0,cuda:1"), second = On(data, "cuda:4,cuda:2,cuda:3");
  const Ran together = Together({first, second});
  ExpectAlmost(together, alone, 1e-5);  // losses are summed in each process first
  EXPECT_GE(Sums(), 5 * alone.losses.size());
}

TEST_F(NcclTraining, OfOneGpuUsesNcclWhereThatIsAskedFor) {
  const SmallCifar data(32);
  TrainerOptions options = On(data, "cuda:1");
  const Ran without = Train(options);
  EXPECT_EQ(Sums(), 0u);
  options.sums = SumPlace::kGpus;
  EXPECT_THAT(Described(options), AllOf(HasSubstr("summed by NCCL"), HasSubstr("no CUDA graphs")));
  EXPECT_EQ(Train(options).losses, without.losses);
  EXPECT_GE(Sums(), without.losses.size());
}

TEST_F(NcclTraining, GoesOnFromACheckpointAsIfItHadNotStopped) {
  const SmallCifar data(16);
  TrainerOptions options = On(data, "cuda:0,cuda:1");
  options.epochs = 2;
  options.batch_size = 4;
  ExpectResumes(options, options, Train(options));
}

TEST_F(NcclTraining, IsChosenWhereNvlinkConnectsTheGpus) {
  const SmallCifar data(32);
  for (const auto& [nvlink, chosen] :
       {std::pair(true, "strategy: replicated"), {false, "strategy: parameter_server"}}) {
    emulated::SetUp({.nvlink = nvlink});
    TrainerOptions options = On(data, "cuda:0,cuda:1");
    options.strategy = StrategyKind::kAuto;
    std::string notices;
    Trainer(options, [&](const std::string& text) { notices += text + "\n"; });
    EXPECT_THAT(notices, HasSubstr(chosen)) << nvlink;
  }
}

TEST_F(NcclTraining, IsOnTheHostWhereNcclCannotSum) {
  const SmallCifar data(32);
  const struct {
    const char* devices;
    StrategyKind strategy;
    const char* reason;
  } cases[] = {
      {"cuda:0/0,cuda:0/1", StrategyKind::kReplicated, "cuda:0 and cuda:0/1 are one GPU, and NCCL"},
      {"cuda:0,cpu:0", StrategyKind::kReplicated, "cpu:0 is not a GPU"},
      {"cuda:0,cuda:1", StrategyKind::kDistributedReplicated, "the master copy is there"},
      {"cuda:0,cuda:1", StrategyKind::kParameterServer, "gradients go through"},
  };
  for (const auto& of : cases) {
    TrainerOptions options = On(data, of.devices);
    options.strategy = of.strategy;
    EXPECT_THAT(Described(options), HasSubstr(of.reason)) << of.devices;
    options.sums = SumPlace::kGpus;
    EXPECT_THAT(MessageOf(options),
                AllOf(HasSubstr("cannot be summed by NCCL"), HasSubstr(of.reason)))
        << of.devices;
  }
  TrainerOptions options = On(data, "cuda:0,cuda:1");
  options.between_gpus.unavailable = [] { return std::string("it was not found"); };
  EXPECT_THAT(Described(options), HasSubstr("host memory: it was not found"));
  Train(options);
  EXPECT_EQ(Sums(), 0u);
}

// All processes come to the same end, wherever each one is.
TEST_F(NcclTraining, OfProcessesIsOnTheHostWhereNcclCannotSumAtOne) {
  const SmallCifar data(32);
  TrainerOptions lacking = On(data, "cuda:1");
  lacking.between_gpus.unavailable = [] { return std::string("it was not found"); };
  const std::pair<Several, std::string> cases[] = {
      {{On(data, "cuda:1"), On(data, "cuda:1")},
       "cuda:1 of rank 0 and cuda:1 of rank 1 are one GPU, and NCCL takes one rank per GPU"},
      {{On(data, "cuda:0"), On(data, "cpu:0")}, "cpu:0 of rank 1 is not a GPU"},
      {{On(data, "cuda:0"), lacking}, "it was not found, says rank 1"},
  };
  const Ran expected = Train(Short(data, "cpu:0,cpu:1"));
  for (auto [processes, reason] : cases) {
    SCOPED_TRACE(reason);
    ExpectAlmost(Together(processes), expected, 2e-3);
    EXPECT_EQ(Sums(), 0u);
    for (TrainerOptions& process : processes) process.sums = SumPlace::kGpus;
    for (const Process& process : TrainProcesses(processes)) {
      EXPECT_THAT(process.failure, HasSubstr(reason));
    }
  }
}

// Each reports the reason and ends.
TEST_F(NcclTraining, EndsForAllWhereNcclFailsAtOne) {
  const SmallCifar data(64);
  emulated::FailNccl(emulated::NcclFault::kAsyncError, 1, 4);
  for (const Process& process : TrainProcesses({On(data, "cuda:0"), On(data, "cuda:1")})) {
    EXPECT_THAT(process.failure, HasSubstr("the network of the emulated machine failed"));
  }
  emulated::SetUp({.seed = 2});
  emulated::FailNccl(emulated::NcclFault::kAsyncError, 0, 4);
  EXPECT_THAT(MessageOf(On(data, "cuda:0,cuda:1")), HasSubstr("the emulated machine failed"));
}

TEST_F(NcclTraining, EndsForAllWhereADeviceFails) {
  const SmallCifar data(64);
  for (const bool processes : {false, true}) {
    emulated::SetUp({});
    emulated::FailWork(1, cudaErrorLaunchFailure, 150);
    if (!processes) {
      EXPECT_THAT(MessageOf(On(data, "cuda:0,cuda:1")), HasSubstr("cudaErrorLaunchFailure"));
      continue;
    }
    for (const Process& process : TrainProcesses({On(data, "cuda:0"), On(data, "cuda:1")})) {
      EXPECT_THAT(process.failure, HasSubstr("cudaErrorLaunchFailure"));
    }
  }
}

// While others wait for it in a sum.
TEST_F(NcclTraining, EndsForAllWhereABatchOfOneIsBad) {
  const SmallCifar data(64);
  data.AddLabels(10, 400);
  TrainerOptions bad = On(data, "cuda:1");
  bad.epochs = 3;
  TrainerOptions good = On(data, "cuda:0");
  good.epochs = 3;
  for (const Process& process : TrainProcesses({good, bad})) {
    EXPECT_THAT(process.failure, HasSubstr("label"));
  }
}

}  // namespace
}  // namespace recpack::train
