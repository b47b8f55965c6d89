#include "src/probe/gpu/gpu_collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recpack/base/event_log.h"
#include "tests/probe/scripted_nvml.h"

namespace recpack::probe {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr int kTrainer = 4711;

std::string Gpus(const std::string& more = {}) {
  return "devices 2\n*.utilization 90 40\n*.power 500000\n*.power_limit 700000\n*.sm_clock 1500\n"
         "*.sm_clock_max 1980\n*.clock_reasons 0\n*.memory 100 0 50 50\n*.temperature 60\n"
         "*.pcie_rx 5\n*.pcie_tx 5\n*.gpm 2:50\n0.processes 4711:1\n1.processes 1:1\n" +
         more;
}

class GpuCollectorTest : public testing::Test {
 protected:
  explicit GpuCollectorTest(const std::string& script = Gpus()) : nvml_(script) {
    auto options = ScriptedNvml::Options();
    options.proc = nvml_.Proc("pid:[4026531836]", kTrainer);
    collector_.emplace(options);
  }

  void Sample(int times = 1) {
    for (int i = 0; i < times; ++i) collector_->Sample({{.process = kTrainer}});
  }
  std::vector<std::string> Unseen() const { return collector_->Unseen(begin_); }

  const int64_t begin_ = EventLog::Now();
  ScriptedNvml nvml_;
  std::optional<GpuCollector> collector_;
};

TEST_F(GpuCollectorTest, MeansOfTheGpusThatTheProgramUses) {
  Sample();
  nvml_.Say(Gpus("0.utilization 50 20\n"));  // the first line for device 0 wins
  Sample();
  EXPECT_TRUE(collector_->any());
  const auto uses = collector_->Uses();
  ASSERT_THAT(uses, SizeIs(1));
  EXPECT_EQ(uses[0].device, 0);
  EXPECT_EQ(uses[0].samples, 2u);
  EXPECT_NEAR(*uses[0].utilisation, 0.7, 1e-9);
  EXPECT_NEAR(*uses[0].power, 500, 1e-9);
  EXPECT_NEAR(*uses[0].highest_clock, 1980, 1e-9);
  EXPECT_EQ(uses[0].throttled_share, 0);
  EXPECT_FALSE(uses[0].spins_since);
  EXPECT_THAT(Unseen(), IsEmpty());
}

// A long watch keeps few samples: there may be none within the requested time.
TEST_F(GpuCollectorTest, IdleTimeOfAShortPartOfALongWatch) {
  nvml_.Say(Gpus("0.utilization 75 40\n"));
  Sample(1000);
  const int64_t begin = EventLog::Now();
  Sample(30);
  const int64_t end = EventLog::Now();
  Sample(1000);
  const auto idle = collector_->Uses(begin, end)[0].idle_in_steps;
  ASSERT_TRUE(idle);
  EXPECT_NEAR(*idle, 0.25e-9 * static_cast<double>(end - begin), 1e-12);
}

TEST_F(GpuCollectorTest, IdleTimeIsThatOfTheSteps) {
  nvml_.Say(Gpus("0.utilization 0 0\n"));
  Sample(30);  // start-up
  const int64_t begin = EventLog::Now();
  nvml_.Say(Gpus("0.utilization 75 40\n"));
  Sample(30);
  const int64_t end = EventLog::Now();
  const GpuUse use = collector_->Uses(begin, end)[0];
  ASSERT_TRUE(use.idle_in_steps);
  EXPECT_NEAR(*use.idle_in_steps, 0.25e-9 * static_cast<double>(end - begin), 1e-12);
  EXPECT_NEAR(*use.busy_in_steps, 0.75e-9 * static_cast<double>(end - begin), 1e-12);
  EXPECT_FALSE(collector_->Uses()[0].idle_in_steps);
  EXPECT_FALSE(collector_->Uses(end, end + 1)[0].idle_in_steps);
}

TEST_F(GpuCollectorTest, WhereProcessesCannotBeSeenAllGpusCount) {
  nvml_.Say(Gpus("fail nvmlDeviceGetComputeRunningProcesses_v3 4\n"));
  Sample();
  EXPECT_THAT(collector_->Uses(), SizeIs(2));
  EXPECT_FALSE(collector_->Uses()[0].used);
  EXPECT_THAT(Unseen(), Contains(HasSubstr("which processes are on it could not be seen")));
}

TEST_F(GpuCollectorTest, ThrottlingCountsWhileTheGpuWorks) {
  nvml_.Say(Gpus("0.utilization 10 0\n0.clock_reasons 64\n"));
  Sample(3);  // idle
  EXPECT_FALSE(collector_->Uses()[0].throttled_share);
  nvml_.Say(
      "devices 2\n*.utilization 90 40\n*.sm_clock 900\n0.processes 4711:1\n"
      "0.clock_reasons 68\n");
  Sample(3);
  nvml_.Say(
      "devices 2\n*.utilization 90 40\n*.sm_clock 1100\n0.processes 4711:1\n"
      "0.clock_reasons 64\n");
  Sample();
  const GpuUse use = collector_->Uses()[0];
  EXPECT_EQ(use.throttled_share, 1.0);
  EXPECT_EQ(use.throttled_by, "hardware thermal slowdown");
  EXPECT_NEAR(*use.busy_clock, 950, 1e-9);
}

TEST_F(GpuCollectorTest, AFaultInMidRunIsSaidAndWhatWasCollectedStays) {
  Sample(2);
  nvml_.Say(Gpus("fail * 15 0\n"));
  Sample(2);
  ASSERT_THAT(collector_->Uses(), SizeIs(1));
  EXPECT_EQ(collector_->Uses()[0].samples, 2u);
  ASSERT_THAT(Unseen(), SizeIs(1));
  EXPECT_THAT(Unseen()[0], HasSubstr("GPU is lost (NVML error 15)"));
  EXPECT_THAT(Unseen()[0], Not(HasSubstr(" s on to ")));
  nvml_.Say(Gpus());
  Sample();
  EXPECT_EQ(collector_->Uses()[0].samples, 3u);
  EXPECT_THAT(Unseen(), SizeIs(1));
  EXPECT_THAT(Unseen(), Contains(HasSubstr(" s on to ")));
}

TEST_F(GpuCollectorTest, AFaultAtTheStartIsSaid) {
  nvml_.Say(Gpus("fail * 15 0\n"));
  Sample(2);
  nvml_.Say(Gpus());
  Sample(2);
  ASSERT_THAT(Unseen(), SizeIs(1));
  EXPECT_THAT(Unseen()[0], HasSubstr("GPU is lost (NVML error 15)"));
  EXPECT_THAT(Unseen()[0], HasSubstr(" s on to "));
}

TEST_F(GpuCollectorTest, CountersThatNeedARightAreSaid) {
  nvml_.Say(Gpus("fail nvmlGpmSampleGet 4\n"));
  Sample(3);
  ASSERT_THAT(Unseen(), SizeIs(1));
  EXPECT_THAT(Unseen()[0], HasSubstr("tensor cores and memory are (GPM) could not be seen"));
  EXPECT_THAT(Unseen()[0], HasSubstr("nvmlGpmSampleGet"));
}

TEST_F(GpuCollectorTest, AFigureThatIsRefusedIsSaidOnce) {
  nvml_.Say(Gpus("fail nvmlDeviceGetPowerUsage 4\n"));
  Sample(5);
  EXPECT_FALSE(collector_->Uses()[0].power);
  EXPECT_TRUE(collector_->Uses()[0].utilisation);
  ASSERT_THAT(Unseen(), SizeIs(1));
  EXPECT_THAT(Unseen()[0], HasSubstr("GPU 0: power could not be seen: nvmlDeviceGetPowerUsage"));
}

TEST_F(GpuCollectorTest, KernelsThatHardlyTouchMemorySpin) {
  nvml_.Say("devices 1\n0.processes 4711:1\n0.utilization 100 0\n");
  Sample(3);
  ASSERT_THAT(collector_->Uses(), SizeIs(1));
  const auto since = collector_->Uses()[0].spins_since;
  ASSERT_TRUE(since);
  EXPECT_GE(*since, begin_);
  Sample();
  EXPECT_EQ(collector_->Uses()[0].spins_since, since);
  nvml_.Say("devices 1\n0.processes 4711:1\n0.utilization 100 30\n");
  Sample();
  EXPECT_FALSE(collector_->Uses()[0].spins_since);
}

TEST(GpuCollector, WithoutADriverThereAreNone) {
  GpuCollector collector({.library = "libno-such-nvml.so.1"});
  collector.Sample({});
  EXPECT_FALSE(collector.any());
  EXPECT_THAT(collector.Uses(), IsEmpty());
  EXPECT_THAT(collector.Unseen(0), IsEmpty());
  EXPECT_THAT(collector.WhyNone(), HasSubstr("libno-such-nvml.so.1"));
}

}  // namespace
}  // namespace recpack::probe
