#include "src/probe/gpu/gpu_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/probe/scripted_nvml.h"

namespace recpack::probe {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kWhole = R"(
devices 1
driver 580.95.05
cuda 13000
0.name NVIDIA H200
0.uuid GPU-1234
0.utilization 55 20
0.power 350000
0.power_limit 700000
0.sm_clock 1980
0.sm_clock_max 1985
0.memory_clock 3201
0.clock_reasons 4
0.memory 1000 100 600 300
0.pcie_tx 2000
0.pcie_rx 3000
0.pcie_generation 5
0.pcie_width 16
0.most_pcie_generation 5
0.most_pcie_width 16
0.temperature 61
)";

// Returns the sample of the only GPU.
GpuSample SampleOf(GpuSampler& sampler) {
  auto samples = sampler.Sample();
  EXPECT_THAT(samples, SizeIs(1));
  return samples.at(0);
}

TEST(GpuSamplerTest, ReadsWhatTheDriverTells) {
  const ScriptedNvml nvml(kWhole);
  GpuSampler sampler(ScriptedNvml::Options());
  EXPECT_EQ(sampler.devices(), Reading<int>(1));
  EXPECT_EQ(sampler.driver(), Reading<std::string>("580.95.05"));
  EXPECT_EQ(sampler.cuda(), Reading<std::string>("13.0"));
  const GpuSample sample = SampleOf(sampler);
  EXPECT_EQ(sample.device, 0);
  EXPECT_GT(sample.time, 0);
  EXPECT_EQ(sample.name, Reading<std::string>("NVIDIA H200"));
  EXPECT_EQ(sample.uuid, Reading<std::string>("GPU-1234"));
  EXPECT_FALSE(sample.mig);
  ASSERT_TRUE(sample.values) << sample.values.reason();
  const GpuValues& values = *sample.values;
  EXPECT_EQ(values.utilisation, Reading<double>(0.55));
  EXPECT_EQ(values.memory_utilisation, Reading<double>(0.2));
  EXPECT_EQ(values.power, Reading<double>(350.0));
  EXPECT_EQ(values.power_limit, Reading<double>(700.0));
  EXPECT_EQ(values.sm_clock, Reading<int>(1980));
  EXPECT_EQ(values.sm_clock_max, Reading<int>(1985));
  EXPECT_EQ(values.memory_clock, Reading<int>(3201));
  EXPECT_EQ(values.memory_used, Reading<uint64_t>(300u));
  EXPECT_EQ(values.memory_total, Reading<uint64_t>(1000u));
  EXPECT_EQ(values.pcie_tx, Reading<double>(2e6));
  EXPECT_EQ(values.pcie_rx, Reading<double>(3e6));
  EXPECT_EQ(values.pcie_generation, Reading<int>(5));
  EXPECT_EQ(values.pcie_width, Reading<int>(16));
  EXPECT_EQ(values.most_pcie_width, Reading<int>(16));
  EXPECT_EQ(values.most_pcie_generation, Reading<int>(5));
  EXPECT_EQ(values.temperature, Reading<int>(61));
}

TEST(GpuSamplerTest, WithoutNvmlSaysWhatToInstall) {
  GpuSampler sampler({.library = "libno-such-nvml.so.1"});
  EXPECT_FALSE(sampler.devices());
  EXPECT_THAT(sampler.devices().reason(),
              AllOf(HasSubstr("libno-such-nvml.so.1 cannot be loaded"), HasSubstr("--gpus all")));
  EXPECT_THAT(sampler.Sample(), IsEmpty());
}

TEST(GpuSamplerTest, WithoutADriverSaysSo) {
  GpuSampler sampler(ScriptedNvml::Options());
  EXPECT_THAT(sampler.devices().reason(),
              AllOf(HasSubstr("nvmlInit_v2: Driver Not Loaded (NVML error 9)"),
                    HasSubstr("load the NVIDIA driver")));
  EXPECT_FALSE(sampler.driver());
}

TEST(GpuSamplerTest, NoGpuIsAValue) {
  const ScriptedNvml nvml("devices 0\n");
  GpuSampler sampler(ScriptedNvml::Options());
  EXPECT_EQ(sampler.devices(), Reading<int>(0));
  EXPECT_THAT(sampler.driver().reason(), HasSubstr("Not Supported"));
  EXPECT_THAT(sampler.Sample(), IsEmpty());
}

TEST(GpuSamplerTest, WhatIsNotSupportedIsNoZero) {
  const ScriptedNvml nvml("devices 1\n0.power 90000\n");
  GpuSampler sampler(ScriptedNvml::Options());
  const GpuSample sample = SampleOf(sampler);
  EXPECT_THAT(sample.name.reason(), HasSubstr("nvmlDeviceGetName: Not Supported"));
  ASSERT_TRUE(sample.values);
  EXPECT_EQ(sample.values->power, Reading<double>(90.0));
  for (const auto& reading :
       {sample.values->utilisation, sample.values->memory_utilisation, sample.values->power_limit,
        sample.values->pcie_rx, sample.values->pcie_tx}) {
    EXPECT_THAT(reading.reason(), HasSubstr("Not Supported (NVML error 3)"));
  }
  for (const auto& reading :
       {sample.values->sm_clock, sample.values->memory_clock, sample.values->temperature,
        sample.values->pcie_generation, sample.values->pcie_width}) {
    EXPECT_THAT(reading.reason(), HasSubstr("Not Supported (NVML error 3)"));
  }
  EXPECT_THAT(sample.values->memory_used.reason(), HasSubstr("Not Supported"));
  EXPECT_THAT(sample.values->memory_total.reason(), HasSubstr("Not Supported"));
  EXPECT_THAT(sample.values->clock_reasons.reason(), HasSubstr("Not Supported"));
}

TEST(GpuSamplerTest, AMissingRightIsNamedWithWhatGivesIt) {
  const ScriptedNvml nvml(std::string(kWhole) + "fail nvmlDeviceGetPowerUsage 4\n");
  GpuSampler sampler(ScriptedNvml::Options());
  const GpuSample sample = SampleOf(sampler);
  ASSERT_TRUE(sample.values);
  EXPECT_THAT(sample.values->power.reason(),
              AllOf(HasSubstr("nvmlDeviceGetPowerUsage: Insufficient Permissions"),
                    HasSubstr("/dev/nvidia*")));
  EXPECT_TRUE(sample.values->utilisation);
}

TEST(GpuSamplerTest, ACallThatFailsOnceIsOneFieldOnce) {
  const ScriptedNvml nvml(std::string(kWhole) + "fail nvmlDeviceGetTemperature 999 0 1 2\n");
  GpuSampler sampler(ScriptedNvml::Options());
  EXPECT_TRUE(SampleOf(sampler).values->temperature);
  const GpuSample failed = SampleOf(sampler);
  EXPECT_THAT(failed.values->temperature.reason(), HasSubstr("Unknown Error (NVML error 999)"));
  EXPECT_TRUE(failed.values->power);
  EXPECT_TRUE(SampleOf(sampler).values->temperature);
}

TEST(GpuSamplerTest, ALostGpuIsUnavailableSinceThenAndTheOthersGoOn) {
  const std::string script = "devices 2\n*.power 100000\n";
  const ScriptedNvml nvml(script);
  GpuSampler sampler(ScriptedNvml::Options());
  const auto well = sampler.Sample();
  ASSERT_TRUE(well[1].values);
  nvml.Say(script + "fail * 15 1\n");
  const auto lost = sampler.Sample();
  EXPECT_THAT(lost[1].values.reason(), HasSubstr("GPU is lost (NVML error 15)"));
  EXPECT_GT(lost[1].time, well[1].time);
  EXPECT_TRUE(lost[0].values);
  const auto later = sampler.Sample();
  EXPECT_EQ(later[1].time, lost[1].time);
  EXPECT_GT(later[0].time, lost[0].time);
  nvml.Say(script);
  const auto back = sampler.Sample();
  ASSERT_TRUE(back[1].values) << back[1].values.reason();
  EXPECT_GT(back[1].time, lost[1].time);
}

TEST(GpuSamplerTest, FaultsOfTheWholeGpuAreNoValues) {
  for (const auto& [code, word] : {std::pair("10", "Timeout"), std::pair("16", "--gpu-reset"),
                                   std::pair("17", "cgroup"), std::pair("18", "driver was")}) {
    const ScriptedNvml nvml(std::string(kWhole) + "fail nvmlDeviceGetPowerUsage " + code + "\n");
    GpuSampler sampler(ScriptedNvml::Options());
    EXPECT_THAT(SampleOf(sampler).values.reason(), HasSubstr(word));
  }
}

TEST(GpuSamplerTest, AGpuThatCannotBeOpenedIsNamed) {
  const ScriptedNvml nvml("devices 2\n*.power 1\nfail nvmlDeviceGetHandleByIndex_v2 4 0\n");
  GpuSampler sampler(ScriptedNvml::Options());
  const auto samples = sampler.Sample();
  EXPECT_THAT(samples[0].values.reason(), HasSubstr("Insufficient Permissions"));
  EXPECT_TRUE(samples[1].values);
}

TEST(GpuSamplerTest, ADriverThatIsLoadedAnewIsReadAgain) {
  const ScriptedNvml nvml(std::string(kWhole) + "fail nvmlDeviceGetTemperature 1 0 1 2\n");
  GpuSampler sampler(ScriptedNvml::Options());
  EXPECT_TRUE(SampleOf(sampler).values);
  EXPECT_THAT(SampleOf(sampler).values.reason(), HasSubstr("Uninitialized"));
  const GpuSample again = SampleOf(sampler);
  ASSERT_TRUE(again.values);
  EXPECT_EQ(again.values->power, Reading<double>(350.0));
}

TEST(GpuSamplerTest, AnOlderDriversFunctionsDoToo) {
  const ScriptedNvml nvml(std::string(kWhole) + "0.processes 77:5\n0.gpm 2:10\n");
  auto options = ScriptedNvml::Options();
  options.library = RECPACK_FAKE_OLD_NVML;
  options.proc = nvml.Proc("pid:[4026531836]", 77);
  GpuSampler sampler(options);
  SampleOf(sampler);
  const GpuSample sample = SampleOf(sampler);
  ASSERT_TRUE(sample.values);
  EXPECT_EQ(sample.values->memory_used, Reading<uint64_t>(400u));  // includes reserved memory
  ASSERT_TRUE(sample.values->clock_reasons);
  EXPECT_THAT(*sample.values->clock_reasons, SizeIs(1));
  ASSERT_TRUE(sample.values->processes);
  EXPECT_THAT(*sample.values->processes, SizeIs(1));
  EXPECT_THAT(sample.values->counters.sm_active.reason(),
              HasSubstr("this driver has no nvmlGpmQueryDeviceSupport"));
}

TEST(GpuSamplerTest, NamesWhatHoldsTheClocksBack) {
  const ScriptedNvml nvml("devices 1\n0.clock_reasons 5153\n");  // 0x1421
  GpuSampler sampler(ScriptedNvml::Options());
  const auto reasons = SampleOf(sampler).values->clock_reasons;
  ASSERT_TRUE(reasons);
  ASSERT_THAT(*reasons, SizeIs(3));
  EXPECT_EQ((*reasons)[0].name, "idle");
  EXPECT_FALSE((*reasons)[0].throttled);
  EXPECT_EQ((*reasons)[1].name, "software thermal slowdown");
  EXPECT_TRUE((*reasons)[1].throttled);
  EXPECT_THAT((*reasons)[2].name, HasSubstr("0x1400"));
}

TEST(GpuSamplerTest, AMigGpuSaysWhatIsNotToBeHad) {
  const ScriptedNvml nvml("devices 1\n0.mig 1\n0.power 90000\n0.gpm 2:10\n");
  GpuSampler sampler(ScriptedNvml::Options());
  SampleOf(sampler);
  const GpuSample sample = SampleOf(sampler);
  EXPECT_TRUE(sample.mig);
  EXPECT_TRUE(sample.values->power);
  EXPECT_THAT(sample.values->utilisation.reason(), HasSubstr("MIG"));
  EXPECT_THAT(sample.values->counters.sm_active.reason(), HasSubstr("MIG"));
}

}  // namespace
}  // namespace recpack::probe
