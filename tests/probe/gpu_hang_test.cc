#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/probe/scripted_nvml.h"

namespace recpack::probe {
namespace {

using testing::HasSubstr;

constexpr const char* kPower = "nvmlDeviceGetPowerUsage";

TEST(GpuHangTest, AGpuThatDoesNotAnswerHoldsUpNobody) {
  const std::string script = "devices 1\n0.power 1000\n";
  const ScriptedNvml nvml(script);
  auto options = ScriptedNvml::Options();
  options.patience = {};
  options.late = {};
  GpuSampler sampler(options);
  nvml.Say(script + nvml.Block(kPower));
  std::string reason;
  int64_t since = 0;
  while (reason.find(kPower) == std::string::npos) {
    const auto sample = sampler.Sample().at(0);
    reason = sample.values.reason();
    since = sample.time;
  }
  EXPECT_THAT(reason, HasSubstr("NVML has not answered nvmlDeviceGetPowerUsage for"));
  EXPECT_EQ(sampler.Sample().at(0).time, since);
  nvml.Unblock(kPower);
  while (!sampler.Sample().at(0).values) {
  }
}

TEST(GpuHangTest, WhatWasReadLastIsGivenUntilItIsLate) {
  const std::string script = "devices 1\n0.power 1000\n";
  const ScriptedNvml nvml(script);
  auto options = ScriptedNvml::Options();
  options.patience = {};
  GpuSampler sampler(options);
  while (!sampler.Sample().at(0).values) {
  }
  nvml.Say(script + nvml.Block(kPower));
  int64_t time = sampler.Sample().at(0).time;
  for (int same = 0; same < 100;) {  // until it hangs
    const auto sample = sampler.Sample().at(0);
    EXPECT_TRUE(sample.values);
    same = sample.time == time ? same + 1 : 0;
    time = sample.time;
  }
  nvml.Unblock(kPower);
}

TEST(GpuHangTest, ASamplerEndsWithoutAnAnswer) {
  const ScriptedNvml nvml("devices 1\n0.power 1000\n");
  auto options = ScriptedNvml::Options();
  options.patience = {};
  options.late = {};
  auto sampler = std::make_unique<GpuSampler>(options);
  nvml.Say("devices 1\n" + nvml.Block(kPower));
  while (sampler->Sample().at(0).values.reason().find(kPower) == std::string::npos) {
  }
  sampler.reset();
  nvml.Unblock(kPower);
}

}  // namespace
}  // namespace recpack::probe
