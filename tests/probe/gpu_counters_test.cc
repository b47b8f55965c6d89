#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/probe/scripted_nvml.h"

namespace recpack::probe {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kCounters =
    "devices 1\n0.pcie_rx 7\n0.pcie_tx 8\n"
    "0.gpm 2:50 3:25 5:12.5 10:75 20:2 21:3 60:4\n";

GpuValues ValuesOf(GpuSampler& sampler) {
  const auto samples = sampler.Sample();
  EXPECT_TRUE(samples.at(0).values) << samples[0].values.reason();
  return *samples[0].values;
}

TEST(GpuCountersTest, AreMeansBetweenTwoReadings) {
  const ScriptedNvml nvml(kCounters);
  GpuSampler sampler(ScriptedNvml::Options());
  const GpuValues first = ValuesOf(sampler);
  EXPECT_THAT(first.counters.sm_active.reason(), HasSubstr("this is the first"));
  EXPECT_EQ(first.pcie_rx, Reading<double>(7e3));
  const GpuValues second = ValuesOf(sampler);
  EXPECT_EQ(second.counters.sm_active, Reading<double>(0.5));
  EXPECT_EQ(second.counters.sm_occupancy, Reading<double>(0.25));
  EXPECT_EQ(second.counters.tensor_active, Reading<double>(0.125));
  EXPECT_EQ(second.counters.dram_active, Reading<double>(0.75));
  EXPECT_EQ(second.counters.nvlink_rx, Reading<double>(4 * 1048576.0));
  EXPECT_THAT(second.counters.nvlink_tx.reason(), HasSubstr("Not Supported"));
  EXPECT_EQ(second.pcie_tx, Reading<double>(2 * 1048576.0));
  EXPECT_EQ(second.pcie_rx, Reading<double>(3 * 1048576.0));
  EXPECT_EQ(ValuesOf(sampler).counters.sm_active, Reading<double>(0.5));
}

TEST(GpuCountersTest, AreNotReadMoreOftenThanTheyAreRenewed) {
  const ScriptedNvml nvml(std::string(kCounters) + "fail nvmlGpmSampleGet 999 0 1\n");
  auto options = ScriptedNvml::Options();
  options.gpm_interval = std::chrono::hours(1);
  GpuSampler sampler(options);
  EXPECT_THAT(ValuesOf(sampler).counters.sm_active.reason(), HasSubstr("this is the first"));
  EXPECT_THAT(ValuesOf(sampler).counters.sm_active.reason(), HasSubstr("this is the first"));
}

TEST(GpuCountersTest, OlderGpusHaveNone) {
  const ScriptedNvml nvml("devices 1\n0.pcie_rx 7\n");
  GpuSampler sampler(ScriptedNvml::Options());
  const GpuValues values = ValuesOf(sampler);
  EXPECT_THAT(values.counters.tensor_active.reason(), HasSubstr("Hopper"));
  EXPECT_EQ(values.pcie_rx, Reading<double>(7e3));
}

TEST(GpuCountersTest, TheMissingRightIsNamed) {
  const ScriptedNvml nvml(std::string(kCounters) + "fail nvmlGpmSampleGet 4\n");
  GpuSampler sampler(ScriptedNvml::Options());
  EXPECT_THAT(ValuesOf(sampler).counters.dram_active.reason(),
              AllOf(HasSubstr("nvmlGpmSampleGet: Insufficient Permissions"),
                    HasSubstr("NVreg_RestrictProfilingToAdminUsers=0")));
}

TEST(GpuCountersTest, AFailureStartsThemAnew) {
  const ScriptedNvml nvml(std::string(kCounters) + "fail nvmlGpmSampleGet 999 0 2 3\n");
  GpuSampler sampler(ScriptedNvml::Options());
  ValuesOf(sampler);
  EXPECT_TRUE(ValuesOf(sampler).counters.sm_active);
  EXPECT_THAT(ValuesOf(sampler).counters.sm_active.reason(), HasSubstr("Unknown Error"));
  EXPECT_THAT(ValuesOf(sampler).counters.sm_active.reason(), HasSubstr("this is the first"));
  EXPECT_TRUE(ValuesOf(sampler).counters.sm_active);
}

TEST(GpuCountersTest, AGpuThatIsLostThereIsLost) {
  const ScriptedNvml nvml(std::string(kCounters) + "fail nvmlGpmSampleGet 15 0 1 2\n");
  GpuSampler sampler(ScriptedNvml::Options());
  ValuesOf(sampler);
  EXPECT_THAT(sampler.Sample()[0].values.reason(), HasSubstr("GPU is lost"));
  EXPECT_THAT(ValuesOf(sampler).counters.sm_active.reason(), HasSubstr("this is the first"));
}

}  // namespace
}  // namespace recpack::probe
