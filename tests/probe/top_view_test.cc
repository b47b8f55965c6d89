#include "src/probe/live/top_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace recpack::probe {
namespace {

using testing::HasSubstr;
using testing::Not;

TopFigures FiguresOfTraining() {
  TopFigures figures{.what = "rectrain, process 7", .seconds = 12.4, .verdict = {}, .rates = {}};
  figures.verdict.band = Band::kHighly;
  figures.verdict.bottleneck = Bottleneck::kDecode;
  figures.verdict.steps = 300;
  figures.verdict.steps_per_second = 25;
  figures.verdict.input_share = {.value = 0.47, .low = 0.454, .high = 0.488};
  figures.verdict.cure = "use more threads";
  figures.now = {.steps = 24, .per_second = 24, .wait_share = 0.5};
  figures.rates.tree_cores = 1.5;
  figures.rates.allowed_cores = 2;
  figures.rates.devices.push_back({.name = "sda", .read_bytes_per_second = 2e6, .busy_share = 0.8});
  figures.rates.devices.push_back({.name = "idle"});
  figures.processes = 3;
  figures.resident = 1 << 20;
  return figures;
}

StepRecord StepUntil(int64_t end, int64_t waited) {
  return {.begin = end - 100, .end = end, .uncovered_wait = waited};
}

TEST(TopViewTest, StepsCountWhereTheyEnd) {
  TrainerSteps trainer;
  trainer.steps = {StepUntil(1'000, 100), StepUntil(1'100, 25), StepUntil(1'200, 75),
                   StepUntil(1'300, 100)};
  const StepsWithin within = CountSteps({trainer, trainer}, 1'000, 1'200);
  EXPECT_EQ(within.steps, 4u);
  EXPECT_DOUBLE_EQ(within.per_second, 4 / 200e-9);
  EXPECT_EQ(within.wait_share, 0.5);
  const StepsWithin none = CountSteps({trainer}, 2'000, 2'000);
  EXPECT_EQ(none.steps, 0u);
  EXPECT_EQ(none.per_second, 0);
  EXPECT_EQ(none.wait_share, std::nullopt);
}

TEST(TopViewTest, ShowsWhatIsKnown) {
  const std::string text = TopText(FiguresOfTraining(), 24, 200);
  EXPECT_THAT(text, HasSubstr("recprobe top, 12 s (q ends it): rectrain, process 7\n"));
  EXPECT_THAT(text, HasSubstr("24.00/s now, 25.00/s so far; 300 counted\n"));
  EXPECT_THAT(text, HasSubstr(" ##############................ 47.0 % [45.4, 48.8] so far\n"));
  EXPECT_THAT(text, HasSubstr("50.0 % now\n"));
  EXPECT_THAT(text, HasSubstr("highly input-bound: decode\n"));
  EXPECT_THAT(text, HasSubstr("use more threads\n"));
  EXPECT_THAT(text, HasSubstr("1.50 of 2 processors"));
  EXPECT_THAT(text, HasSubstr("in 3 processes"));
  EXPECT_THAT(text, HasSubstr("sda busy 80.0 %, reads "));
  EXPECT_THAT(text, Not(HasSubstr("idle")));
  EXPECT_THAT(text, Not(HasSubstr("GPU")));
}

TEST(TopViewTest, WithoutStepsItSaysSo) {
  const std::string text = TopText({.what = "x", .verdict = {}, .rates = {}}, 24, 80);
  EXPECT_THAT(text, HasSubstr("none were told yet"));
  EXPECT_THAT(text, HasSubstr("unknown"));
  EXPECT_THAT(text, HasSubstr("idle"));
}

TEST(TopViewTest, GpusThatDoNotAnswerSayWhy) {
  TopFigures figures = FiguresOfTraining();
  GpuValues values;
  values.utilisation = 0.97;
  values.power = 300.4;
  figures.gpus.push_back({.device = 0, .values = values});
  figures.gpus.push_back({.device = 1, .values = Unavailable{"it is lost"}});
  const std::string text = TopText(figures, 24, 200);
  EXPECT_THAT(text, HasSubstr("GPU 0             used 97.0 %, 300 W\n"));
  EXPECT_THAT(text, HasSubstr("GPU 1             it is lost\n"));
}

TEST(TopViewTest, FitsTheScreenAndCutsOutputFirst) {
  TopFigures figures = FiguresOfTraining();
  for (int i = 0; i < 50; ++i) figures.output.push_back("line " + std::to_string(i) + "\x1b[2J");
  const std::string text = TopText(figures, 16, 20);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 16);
  EXPECT_THAT(text, HasSubstr("line 49?[2J\n"));
  EXPECT_THAT(text, Not(HasSubstr("line 40?")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  for (size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    EXPECT_LE(end - at, 20u);
  }
  const std::string two = TopText(figures, 2, 20);
  EXPECT_EQ(std::count(two.begin(), two.end(), '\n'), 2);
}

TEST(TopViewTest, TextIsNotCutWithinACharacter) {
  const std::string head = "recprobe top, 0 s (q ends it): ";
  const TopFigures figures = {.what = "\u00e4\u00e4", .verdict = {}, .rates = {}};
  EXPECT_EQ(TopText(figures, 1, head.size() + 1), head + "\n");
  EXPECT_EQ(TopText(figures, 1, head.size() + 2), head + "\u00e4\n");
}

TEST(TopViewTest, ALineForFiles) {
  const std::string line = TopLine(FiguresOfTraining());
  EXPECT_THAT(line, HasSubstr("12 s: 24.00 steps/s, waits for input 47.0 % [45.4, 48.8] so far, "
                              "highly input-bound: decode; CPU 1.50 of 2, memory "));
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
}

}  // namespace
}  // namespace recpack::probe
