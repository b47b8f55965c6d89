#include "src/probe/gpu/gpu_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/format.h"
#include "tests/probe/scripted_nvml.h"

namespace recpack::probe {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kFirst = "pid:[4026531836]";
constexpr const char* kContainer = "pid:[4026533001]";

Reading<std::vector<GpuProcess>> Processes(const std::string& pid_namespace,
                                           const std::string& processes) {
  const ScriptedNvml nvml("devices 1\n0.processes " + processes + "\n");
  auto options = ScriptedNvml::Options();
  options.proc = nvml.Proc(pid_namespace, 4711);
  GpuSampler sampler(options);
  return sampler.Sample().at(0).values->processes;
}

TEST(GpuProcessesTest, AreNamedWithTheirMemory) {
  const auto processes = Processes(kFirst, "4711:1048576 5:-1");
  ASSERT_TRUE(processes) << processes.reason();
  ASSERT_THAT(*processes, SizeIs(2));
  EXPECT_EQ((*processes)[0].pid, 4711);
  EXPECT_EQ((*processes)[0].memory, Reading<uint64_t>(1048576u));
  EXPECT_THAT((*processes)[1].memory.reason(), HasSubstr("does not report memory"));
}

TEST(GpuProcessesTest, NoneIsNoneOnTheHost) {
  const auto processes = Processes(kFirst, "");
  ASSERT_TRUE(processes);
  EXPECT_THAT(*processes, IsEmpty());
}

TEST(GpuProcessesTest, MayBeMany) {
  std::string many;
  for (int pid = 1; pid <= 40; ++pid) many += format("{}:1 ", pid);
  const auto processes = Processes(kFirst, many);
  ASSERT_TRUE(processes) << processes.reason();
  EXPECT_THAT(*processes, SizeIs(40));
}

TEST(GpuProcessesTest, TheHostsNumbersMeanNothingInAContainer) {
  EXPECT_THAT(Processes(kContainer, "98765:10").reason(), HasSubstr("--pid=host"));
  EXPECT_THAT(Processes(kContainer, "4711:10 98765:10").reason(), HasSubstr("--pid=host"));
  EXPECT_THAT(Processes(kContainer, "").reason(), HasSubstr("--pid=host"));
}

TEST(GpuProcessesTest, TranslatedNumbersDo) {
  const auto processes = Processes(kContainer, "4711:10 0:20");
  ASSERT_TRUE(processes) << processes.reason();
  EXPECT_THAT(*processes, SizeIs(1));
}

}  // namespace
}  // namespace recpack::probe
