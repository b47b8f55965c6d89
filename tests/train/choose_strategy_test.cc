// Strategies for described devices, and the sizes that real models have.
#include "src/train/world/choose_strategy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "src/train/world/auto_strategy.h"
#include "tests/train/joined_processes.h"
#include "tests/train/small_trainings.h"

namespace recpack::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using enum StrategyKind;
using enum VariablePlace;

// As published, for 1000 classes.
constexpr ModelSize kResnet50{.all = 25'557'032, .dense = 2'102'120};
constexpr ModelSize kResnet101{.all = 44'549'160, .dense = 2'154'344};
constexpr ModelSize kAlexnet{.all = 61'100'840, .dense = 58'631'144};

TrainingTopology Gpus(size_t count, GpuLink link, bool gpu_sums = true) {
  return {.devices = count, .gpus = count, .link = link, .gpu_sums = gpu_sums};
}

using Choice = std::pair<StrategyKind, VariablePlace>;

Choice Chosen(const TrainingTopology& topology, const ModelSize& size) {
  const ChosenStrategy chosen = ChooseStrategy(topology, size);
  EXPECT_FALSE(chosen.why.empty());
  return {chosen.strategy, chosen.variables};
}

TEST(ChooseStrategy, LeavesOneDeviceItsVariables) {
  for (const ModelSize& size : {kResnet50, kAlexnet}) {
    EXPECT_EQ(Chosen({}, size), Choice(kReplicated, kCpu));
    EXPECT_EQ(Chosen(Gpus(1, GpuLink::kSame), size), Choice(kReplicated, kCpu));
  }
}

TEST(ChooseStrategy, UpdatesManyVariablesOnceOnOneProcessor) {
  EXPECT_EQ(Chosen({.devices = 4}, kResnet101), Choice(kReplicated, kCpu));
  EXPECT_EQ(Chosen({.devices = 4}, kAlexnet), Choice(kParameterServer, kCpu));
}

// The guide's cases: K80s on one switch; others; Titan X or P100 with many variables.
TEST(ChooseStrategy, FollowsTheGuideOnGpus) {
  EXPECT_EQ(Chosen(Gpus(4, GpuLink::kPcie), kResnet50), Choice(kParameterServer, kSpread));
  EXPECT_EQ(Chosen(Gpus(4, GpuLink::kNone), kResnet50), Choice(kParameterServer, kCpu));
  EXPECT_EQ(Chosen(Gpus(4, GpuLink::kPcie), kAlexnet), Choice(kReplicated, kCpu));
  EXPECT_EQ(Chosen(Gpus(4, GpuLink::kNone), kAlexnet), Choice(kReplicated, kCpu));
  EXPECT_EQ(Chosen(Gpus(4, GpuLink::kPcie, false), kAlexnet), Choice(kParameterServer, kSpread));
  EXPECT_EQ(Chosen(Gpus(4, GpuLink::kNone, false), kAlexnet), Choice(kParameterServer, kCpu));
}

TEST(ChooseStrategy, SumsOverNvlinkForEveryModel) {
  for (const ModelSize& size : {kResnet50, kAlexnet}) {
    EXPECT_EQ(Chosen(Gpus(8, GpuLink::kNvlink), size), Choice(kReplicated, kCpu));
    EXPECT_EQ(Chosen(Gpus(8, GpuLink::kNvlink, false), size), Choice(kParameterServer, kSpread));
  }
}

TEST(ChooseStrategy, KeepsVariablesOnceOnOneGpu) {
  EXPECT_EQ(Chosen(Gpus(2, GpuLink::kSame, false), kAlexnet),
            Choice(kParameterServer, kFirstDevice));
}

TEST(ChooseStrategy, TakesGpusAndCpusThroughTheHost) {
  EXPECT_EQ(Chosen({.devices = 3, .gpus = 2, .link = GpuLink::kPcie}, kAlexnet),
            Choice(kParameterServer, kCpu));
}

TEST(ChooseStrategy, DividesTheUpdateOfManyVariablesBetweenProcesses) {
  EXPECT_EQ(Chosen({.processes = 2, .devices = 2}, kResnet50), Choice(kReplicated, kCpu));
  EXPECT_EQ(Chosen({.processes = 2, .devices = 4}, kAlexnet), Choice(kDistributedReplicated, kCpu));
  EXPECT_EQ(Chosen({.processes = 2, .devices = 4, .gpu_sums = true}, kAlexnet),
            Choice(kReplicated, kCpu));
}

TEST(ChooseStrategy, SaysWhatItChoseAndWhy) {
  const TrainingTopology one = Gpus(4, GpuLink::kPcie);
  EXPECT_EQ(StrategyText(ChooseStrategy(one, kResnet50), one, kResnet50),
            "parameter_server, variables spread, for 25.6 million variables (2.1 million in dense "
            "layers and embeddings) on 4 devices: the GPUs reach each other's memory");
  const TrainingTopology two{.processes = 2, .devices = 2};
  EXPECT_EQ(StrategyText(ChooseStrategy(two, kAlexnet), two, kAlexnet),
            "distributed_replicated, for 61.1 million variables (58.6 million in dense layers and "
            "embeddings) on 2 devices of 2 processes: many variables, of which each process "
            "updates a part");
}

// What is chosen for these options in one process.
struct Resolved {
  TrainerOptions options;
  std::vector<std::string> notices;
};
Resolved Resolve(TrainerOptions options) {
  options.strategy = kAuto;
  Resolved resolved;
  options = WithStrategy(options, ProcessWorld({}, FedDevices(options).size()),
                         [&](const std::string& text) { resolved.notices.push_back(text); });
  resolved.options = options;
  return resolved;
}

TEST(AutoStrategy, CountsTheVariablesOfModels) {
  TrainerOptions options;
  options.devices = ParseDevices("cpu:0,cpu:1");
  options.resnet = {.depth = 50, .width = 64, .classes = 1000, .image = 224, .stem = 7};
  Resolved resolved = Resolve(options);
  EXPECT_EQ(resolved.options.strategy, kReplicated);
  EXPECT_THAT(resolved.notices, ElementsAre(HasSubstr("25.6 million variables (2.1 million")));
  options.model = "alexnet";
  resolved = Resolve(options);
  EXPECT_EQ(resolved.options.strategy, kParameterServer);
  EXPECT_THAT(resolved.notices, ElementsAre(HasSubstr("parameter_server, variables on the CPU")));
  options.model = "deepconn";
  options.deepconn.vocabulary = 10'000;
  EXPECT_EQ(Resolve(options).options.strategy, kReplicated);
  options.deepconn.vocabulary = 100'000;
  EXPECT_EQ(Resolve(options).options.strategy, kParameterServer);
}

TEST(AutoStrategy, IsReplicatedWhereOtherOptionsNeedThat) {
  TrainerOptions options;
  options.devices = ParseDevices("cpu:0,cpu:1");
  options.model = "alexnet";
  options.sums = SumPlace::kGpus;
  EXPECT_EQ(Resolve(options).options.strategy, kReplicated);
  options.sums = SumPlace::kAuto;
  options.place = "alternate";
  EXPECT_EQ(Resolve(options).options.strategy, kReplicated);
}

TEST(AutoStrategy, RefusesAsynchronousUpdates) {
  TrainerOptions options;
  options.async = true;
  EXPECT_THROW(Resolve(options), Error);
}

TEST(AutoStrategy, TrainsByWhatItChose) {
  const SmallCifar data(64);
  TrainerOptions options = SteadyPictures(data, "cpu:0,cpu:1");
  const Ran expected = Train(options);
  options.strategy = kAuto;
  EXPECT_EQ(Train(options).losses, expected.losses);
}

TEST(AutoStrategy, OfAllProcessesOrOfNone) {
  const SmallCifar data(64);
  TrainerOptions each = SteadyPictures(data), other = each;
  const Ran expected = TrainProcesses({each, each})[0].ran;
  each.strategy = kAuto;
  EXPECT_EQ(TrainProcesses({each, each})[0].ran.losses, expected.losses);
  EXPECT_THAT(TrainProcesses({each, other})[1].failure, HasSubstr("strategy: 0 at rank 1, 3"));
}

}  // namespace
}  // namespace recpack::train
