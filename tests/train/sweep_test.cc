#include "src/train/run/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recpack/base/cpu.h"
#include "tests/base/error_of.h"
#include "tests/train/small_cifar.h"
#include "tests/train/small_reviews.h"

namespace recpack::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TrainerChoice Devices(const std::string& names) {
  return {names, [names](TrainerOptions& options) { options.devices = ParseDevices(names); }};
}

using Names = std::vector<std::string>;

std::vector<Names> NamesOf(const SweepPlan& plan) {
  std::vector<Names> names;
  for (const SweepCase& each : plan.cases) names.push_back(each.names);
  return names;
}

TEST(SweepPlan, HasAllCombinationsTheLastAxisTurningFastest) {
  const SweepPlan plan = PlanSweep({}, {{"layout", LayoutChoices()}, {"norm", NormChoices()}});
  EXPECT_THAT(plan.axes, ElementsAre("layout", "norm"));
  EXPECT_THAT(NamesOf(plan), ElementsAre(Names{"nhwc", "fused"}, Names{"nhwc", "unfused"},
                                         Names{"nchw", "fused"}, Names{"nchw", "unfused"}));
  EXPECT_THAT(plan.left_out, IsEmpty());
  EXPECT_EQ(plan.cases[2].options.layout, ImageLayout::kNchw);
  EXPECT_TRUE(plan.cases[2].options.fused_norm);
  EXPECT_FALSE(plan.cases[3].options.fused_norm);
}

TEST(SweepPlan, LeavesOutWhatOneDeviceCannotDo) {
  const SweepPlan plan = PlanSweep({}, {{"devices", {Devices("cpu:0"), Devices("cpu:0,cpu:1")}},
                                        {"strategy", WholeStrategyChoices()}});
  EXPECT_THAT(plan.cases, SizeIs(6 + 8));
  EXPECT_THAT(
      plan.left_out,
      ElementsAre(
          "cpu:0 parameter_server/spread: the same training as cpu:0 parameter_server/device",
          "cpu:0 async/spread: the same training as cpu:0 async/device"));
}

TEST(SweepPlan, LeavesOutWhatAModelOrDeviceDoesNotHave) {
  const std::vector<SweepAxis> axes = {{"layout", LayoutChoices()}, {"norm", NormChoices()}};
  TrainerOptions options;
  options.model = "deepconn";
  EXPECT_THAT(PlanSweep(options, axes).cases, SizeIs(1));
  options.model = "alexnet";
  EXPECT_THAT(PlanSweep(options, axes).cases, SizeIs(2));
  options.model = "resnet";
  options.devices = ParseDevices("sim:1ms");
  EXPECT_THAT(PlanSweep(options, axes).cases, SizeIs(2)) << "the loader's work";
  EXPECT_THAT(PlanSweep(options, {{"strategy", WholeStrategyChoices()}}).cases, SizeIs(1));
}

TEST(SweepPlan, AShareOfTheProcessorsIsThatOfTheCpuDevices) {
  const auto threads = [](int count) {
    return TrainerChoice{std::to_string(count),
                         [count](TrainerOptions& options) { options.threads = count; }};
  };
  const int all = AvailableThreads();
  const auto cases = [&](const std::string& devices, int count) {
    TrainerOptions options;
    options.devices = ParseDevices(devices);
    return PlanSweep(options, {{"threads", {threads(0), threads(count)}}}).cases.size();
  };
  EXPECT_EQ(cases("cpu:0,cuda:0", all), 1u);
  EXPECT_EQ(cases("cpu:0,cuda:0", all + 1), 2u);
  EXPECT_EQ(cases("cpu:0,cpu:1", std::max(1, all / 2)), 1u);
  EXPECT_EQ(cases("cpu:0,cpu:1", all + 1), 2u);
}

TEST(SweepPlan, PlacesOneModelInSeveralWays) {
  TrainerOptions options;
  options.model = "deepconn";
  options.devices = ParseDevices("cpu:0,cpu:1");
  TrainerChoices choices;
  for (const char* name : {"one", "towers", "alternate", "user=cpu:0,item=cpu:1"}) {
    choices.push_back(PlacementChoice(name));
  }
  const SweepPlan plan = PlanSweep(options, {{"placement", choices}});
  ASSERT_THAT(plan.cases, SizeIs(3));
  EXPECT_THAT(plan.cases[0].options.devices, SizeIs(1));
  EXPECT_EQ(plan.cases[0].options.place, "one");
  EXPECT_THAT(plan.cases[1].options.devices, SizeIs(2));
  EXPECT_EQ(plan.cases[1].options.place, "user=cpu:0,item=cpu:1");
  EXPECT_EQ(plan.cases[2].options.place, "alternate");
  EXPECT_THAT(plan.left_out, ElementsAre("user=cpu:0,item=cpu:1: the same training as towers"));
  options.devices.resize(1);
  EXPECT_THAT(ErrorOf([&] {
                PlanSweep(options, {{"placement", choices}});
              }).what(),
              HasSubstr("placed on cpu:0 alone"));
}

struct Swept {
  SmallCifar data{80};
  TrainerOptions options;
  std::vector<SweepRun> runs;

  Swept() {
    options.data = data.folder();
    options.resnet.width = 8;
    options.threads = 1;
    options.batch_size = 8;
  }
  void Run(const SweepPlan& plan, const std::vector<SweepRun>& done = {}) {
    RunSweep(plan, {.steps = 2, .warmup = 1, .rounds = 2}, done,
             [this](const SweepRun& run) { runs.push_back(run); });
  }
  std::vector<std::pair<int, size_t>> Order() const {
    std::vector<std::pair<int, size_t>> order;
    for (const SweepRun& run : runs) order.emplace_back(run.round, run.of);
    return order;
  }
};

using Pair = std::pair<int, size_t>;

TEST(Sweep, GoesInRounds) {
  Swept swept;
  swept.Run(PlanSweep(swept.options, {{"devices", {Devices("cpu:0"), Devices("cpu:0,cpu:1")}},
                                      {"input", {InputChoices().back()}}}));
  EXPECT_THAT(swept.Order(), ElementsAre(Pair{0, 0}, Pair{0, 1}, Pair{1, 0}, Pair{1, 1}));
  for (const SweepRun& run : swept.runs) {
    EXPECT_EQ(run.error, "");
    EXPECT_EQ(run.timing.input, InputKind::kSynthetic);
    EXPECT_GT(run.timing.samples_per_second, 0);
    EXPECT_EQ(run.timing.exchange_bytes > 0, run.of == 1);
  }
}

TEST(Sweep, CountsCopiesBetweenTheDevicesOfAPlacedModel) {
  const SmallReviews reviews(200);
  Swept swept;
  swept.options.model = "deepconn";
  swept.options.data = reviews.folder();
  swept.options.deepconn = {.max_tokens = 24, .dims = 16, .filters = 8, .latent = 4, .factors = 2};
  swept.options.devices = ParseDevices("cpu:0,cpu:1");
  swept.Run(PlanSweep(swept.options,
                      {{"placement",
                        {PlacementChoice("one"), PlacementChoice("towers"),
                         PlacementChoice("alternate"), PlacementChoice("towers=cpu:0")}}}));
  const double copies[] = {0, 4, 22};
  ASSERT_THAT(swept.runs, SizeIs(7));
  for (const SweepRun& run : swept.runs) {
    if (run.of == 3) {
      EXPECT_THAT(run.error, HasSubstr("no part 'towers'"));
      continue;
    }
    EXPECT_EQ(run.error, "");
    EXPECT_EQ(run.timing.copies, copies[run.of]);
    EXPECT_EQ(run.timing.copy_seconds > 0, run.of > 0);
    EXPECT_GT(run.timing.epoch_steps, 10) << "of 200 reviews, most of which are of train";
    // The item's vectors of tokens, its tower's output, and the gradients of both.
    if (run.of == 1) {
      EXPECT_EQ(run.timing.copy_bytes, 8 * 4 * 2 * (24 * 16 + 4));
    }
  }
}

TEST(Sweep, GoesOnAfterWhatIsDone) {
  Swept swept;
  const SweepPlan plan = PlanSweep(swept.options, {{"layout", LayoutChoices()}});
  swept.Run(plan, {{.of = 0, .round = 0}, {.of = 1, .round = 0}, {.of = 1, .round = 1}});
  EXPECT_THAT(swept.Order(), ElementsAre(Pair{1, 0}));
}

TEST(Sweep, OutlivesACaseThatFails) {
  Swept swept;
  const TrainerChoice missing = Devices("cuda:99");
  SweepPlan plan = PlanSweep(swept.options, {{"devices", {missing, Devices("cpu:0")}}});
  plan.cases[1].options.batch_size = 4;
  plan.cases.push_back(plan.cases[1]);
  plan.cases[2].options.batch_size = 8000;
  swept.Run(plan);
  EXPECT_THAT(swept.Order(), ElementsAre(Pair{0, 0}, Pair{0, 1}, Pair{0, 2}, Pair{1, 1}))
      << "once is enough";
  EXPECT_THAT(swept.runs[0].error, HasSubstr("cuda:99"));
  EXPECT_EQ(swept.runs[1].error, "");
  EXPECT_THAT(swept.runs[2].error, HasSubstr("8000"));
}

}  // namespace
}  // namespace recpack::train
