#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "src/probe/procfs/cgroup_folders.h"
#include "tests/probe/fake_machine.h"

namespace recpack::probe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kVersion2 = "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";

TEST(CgroupFoldersTest, Version2GoesUpToTheMount) {
  const auto folders = FindCgroupFolders("0::/a/b\n", kVersion2, "/s");
  EXPECT_THAT(folders.cpu.folders,
              ElementsAre("/s/fs/cgroup/a/b", "/s/fs/cgroup/a", "/s/fs/cgroup"));
  EXPECT_EQ(folders.memory, folders.cpu);
  EXPECT_EQ(folders.unified, folders.cpu);
  EXPECT_TRUE(folders.cpu.version_2);
}

TEST(CgroupFoldersTest, Version1HasAFolderForEachController) {
  const auto folders = FindCgroupFolders(
      "4:memory:/m\n2:cpuacct,cpu:/c\n0::/u\n",
      "1 0 0:1 / /sys/fs/cgroup/cpu,cpuacct rw shared:3 - cgroup cgroup rw,cpu,cpuacct\n"
      "2 0 0:2 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "3 0 0:3 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
      "/s");
  EXPECT_THAT(folders.cpu.folders,
              ElementsAre("/s/fs/cgroup/cpu,cpuacct/c", "/s/fs/cgroup/cpu,cpuacct"));
  EXPECT_FALSE(folders.cpu.version_2);
  EXPECT_THAT(folders.memory.folders, ElementsAre("/s/fs/cgroup/memory/m", "/s/fs/cgroup/memory"));
  EXPECT_TRUE(folders.cpuset.version_2) << "version 1 does not have it";
  EXPECT_THAT(folders.unified.folders,
              ElementsAre("/s/fs/cgroup/unified/u", "/s/fs/cgroup/unified"));
}

TEST(CgroupFoldersTest, AContainerSeesItsGroupAsTheTop) {
  const std::string mounts =
      "1 0 0:1 /docker/x /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
      "2 0 0:1 /docker/x /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
  const auto folders = FindCgroupFolders("2:cpu:/docker/x\n3:memory:/docker/x/y\n", mounts, "/s");
  EXPECT_THAT(folders.cpu.folders, ElementsAre("/s/fs/cgroup/cpu"));
  EXPECT_THAT(folders.memory.folders, ElementsAre("/s/fs/cgroup/memory/y", "/s/fs/cgroup/memory"));
  EXPECT_THAT(folders.unified.folders, IsEmpty());
}

TEST(CgroupFoldersTest, AGroupOutsideTheContainersIsNotLookedFor) {
  const auto folders = FindCgroupFolders("0::/../../x\n", kVersion2, "/s");
  EXPECT_THAT(folders.cpu.folders, ElementsAre("/s/fs/cgroup"));
}

TEST(CgroupFoldersTest, NothingIsMounted) {
  EXPECT_THAT(FindCgroupFolders("0::/a\n2:cpu:/\n", "", "/s").cpu.folders, IsEmpty());
  EXPECT_THAT(FindCgroupFolders("", kVersion2, "/s").cpu.folders, IsEmpty());
}

class CgroupTest : public testing::Test {
 protected:
  CgroupTest() { machine_.Set({.process = 50}); }

  void Group(const std::string& file, const std::string& text) const {
    machine_.Write("sys/fs/cgroup/" + file, text);
  }

  FakeMachine machine_;
};

TEST_F(CgroupTest, TheTightestLimitOfAllLevelsHolds) {
  machine_.Write("proc/50/cgroup", "0::/job/task\n");
  Group("job/task/cpu.max", "max 100000\n");
  Group("job/cpu.max", "150000 100000\n");
  Group("job/task/memory.max", "9000\n");
  Group("job/task/memory.current", "11\n");
  Group("job/memory.max", "5000\n");
  Group("job/memory.current", "22\n");
  Group("job/cpuset.cpus.effective", "0-1\n");
  Group("job/task/cpu.stat", "usage_usec 5\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n");
  Group("job/cpu.stat", "usage_usec 5\nnr_periods 10\nnr_throttled 4\nthrottled_usec 7\n");
  Group("job/task/io.pressure", "some avg10=0.00 total=3\nfull avg10=0.00 total=2\n");
  SystemSampler sampler({50}, machine_.Options());
  const CgroupSample group = sampler.Sample().cgroup;
  EXPECT_EQ(group.path, "/job/task");
  EXPECT_EQ(group.cpu_limit, 1.5);
  EXPECT_EQ(group.memory_limit, 5000);
  EXPECT_EQ(group.memory_used, 22);
  EXPECT_EQ(group.cpus, "0-1");
  EXPECT_EQ(group.periods, 10);
  EXPECT_EQ(group.throttled_periods, 4);
  EXPECT_EQ(group.throttled_ns, 7000);
  EXPECT_EQ(group.pressure.io.full_ns, 2000);
  EXPECT_EQ(group.pressure.cpu.some_ns, std::nullopt);
}

TEST_F(CgroupTest, NoLimitIsNotUnavailable) {
  Group("cgroup.procs", "");
  SystemSampler sampler({50}, machine_.Options());
  const CgroupSample group = sampler.Sample().cgroup;
  ASSERT_TRUE(group.cpu_limit);
  EXPECT_TRUE(std::isinf(*group.cpu_limit));
  EXPECT_EQ(group.memory_limit, kNoMemoryLimit);
  EXPECT_EQ(group.memory_used, std::nullopt);
  EXPECT_EQ(group.throttled_periods, std::nullopt);
}

TEST_F(CgroupTest, WithoutAMountAllIsUnavailable) {
  SystemSampler sampler({50}, machine_.Options());
  const CgroupSample group = sampler.Sample().cgroup;
  EXPECT_EQ(group.cpu_limit, std::nullopt);
  EXPECT_EQ(group.memory_limit, std::nullopt);
  EXPECT_EQ(group.cpus, "");
  for (const char* what : {"processor limit of the control group", "memory of the control group",
                           "processors of the control group", "throttling of the control group",
                           "pressure stall information of the control group"}) {
    EXPECT_THAT(sampler.unseen(), Contains(Field(&Unseen::what, what)));
  }
}

TEST_F(CgroupTest, Version1) {
  machine_.Write("proc/self/mountinfo",
                 "1 0 0:1 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
                 "2 0 0:2 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                 "3 0 0:2 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n");
  machine_.Write("proc/50/cgroup", "1:cpu:/a\n2:memory:/a\n3:cpuset:/a\n");
  Group("cpu/a/cpu.cfs_quota_us", "50000\n");
  Group("cpu/a/cpu.cfs_period_us", "100000\n");
  Group("cpu/cpu.cfs_quota_us", "-1\n");
  Group("cpu/a/cpu.stat", "nr_periods 8\nnr_throttled 2\nthrottled_time 99\n");
  Group("memory/a/memory.limit_in_bytes", "9223372036854771712\n");
  Group("memory/a/memory.usage_in_bytes", "33\n");
  Group("cpuset/a/cpuset.effective_cpus", "1\n");
  SystemSampler sampler({50}, machine_.Options());
  const CgroupSample group = sampler.Sample().cgroup;
  EXPECT_EQ(group.cpu_limit, 0.5);
  EXPECT_EQ(group.throttled_periods, 2);
  EXPECT_EQ(group.throttled_ns, 99);
  EXPECT_EQ(group.memory_limit, kNoMemoryLimit);
  EXPECT_EQ(group.memory_used, 33);
  EXPECT_EQ(group.cpus, "1");
  EXPECT_THAT(sampler.unseen(), Contains(Field(&Unseen::reason, HasSubstr("no cgroup version 2"))));
}

TEST_F(CgroupTest, AProcessThatMovesIsFollowed) {
  machine_.Write("proc/50/cgroup", "0::/a\n");
  Group("a/cpu.max", "100000 100000\n");
  Group("b/cpu.max", "200000 100000\n");
  SystemSampler sampler({50}, machine_.Options());
  EXPECT_EQ(sampler.Sample().cgroup.cpu_limit, 1);
  machine_.Write("proc/50/cgroup", "0::/b\n");
  SystemSample sample;
  for (int i = 0; i < 10; ++i) sampler.Sample(sample);
  EXPECT_EQ(sample.cgroup.cpu_limit, 2);
}

}  // namespace
}  // namespace recpack::probe
