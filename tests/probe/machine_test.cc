#include "src/probe/doctor/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "tests/probe/fake_machine.h"
#include "tests/probe/scripted_nvml.h"

namespace recpack::probe {
namespace {

using testing::HasSubstr;

// The calling process runs on the fake machine.
class MachineTest : public testing::Test {
 protected:
  MachineTest() {
    const SystemSamplerOptions folders = fake_.Options();
    options_ = {.data = data_.path(),
                .proc = folders.proc,
                .sys = folders.sys,
                .dev = folders.proc + "/../dev",
                .gpus = {.library = "/nowhere/libnvidia-ml.so.1"}};
    own_ = format("proc/{}/", ::getpid());
  }

  // Writes the mountinfo line of the file system with the data.
  void Mount(const std::string& file_system, const std::string& device = "254:0",
             const std::string& options = "rw,relatime") const {
    const std::string data = std::filesystem::canonical(data_.path());
    fake_.Write("proc/self/mountinfo",
                "27 1 254:0 / / rw - ext4 /dev/vda rw\n"
                "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n" +
                    format("40 1 {} / {} {} shared:3 - {} the\\040source rw\n", device, data,
                           options, file_system));
  }
  Machine Read() const { return ReadMachine(options_); }

  FakeMachine fake_;
  TemporaryFolder data_;
  MachineOptions options_;
  std::string own_;
};

TEST_F(MachineTest, WhatIsNotThereIsUnavailableWithItsReason) {
  fake_.Remove("proc/meminfo");
  fake_.Remove("proc/self/mountinfo");
  const Machine machine = Read();
  for (const std::string& reason :
       {machine.cores.model.reason(), machine.cores.online.reason(), machine.cores.limit.reason(),
        machine.cores.governor.reason(), machine.memory.total.reason(),
        machine.memory.limit.reason(), machine.memory.shared.reason(),
        machine.memory.huge_pages.reason(), machine.kernel.release.reason(),
        machine.kernel.perf_event_paranoid.reason(), machine.storage.kind.reason(),
        machine.gpus.count.reason(), machine.gpus.driver.reason(), machine.gpus.cuda.reason()}) {
    EXPECT_FALSE(reason.empty());
  }
  EXPECT_THAT(MachineText(machine), HasSubstr("unavailable: "));
  EXPECT_THAT(MachineJson(machine), HasSubstr(R"("count":{"unavailable":)"));
}

TEST_F(MachineTest, Processors) {
  fake_.Write("proc/cpuinfo", "processor\t: 0\nmodel name\t: A 9000\ncpu MHz\t\t: 2600.5\n");
  fake_.Write("sys/devices/system/cpu/online", "0-7\n");
  fake_.Write("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,4\n");
  fake_.Write("sys/devices/system/node/online", "0-1\n");
  for (int core = 0; core < 8; ++core) {
    fake_.Write(format("sys/devices/system/cpu/cpu{}/topology/physical_package_id", core),
                core < 4 ? "0\n" : "1\n");
  }
  fake_.Write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  fake_.Write("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3700000\n");
  fake_.Write(own_ + "status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-2,5\n");
  const MachineCores cores = Read().cores;
  EXPECT_EQ(cores.model, Reading<std::string>("A 9000"));
  EXPECT_EQ(cores.online, Reading<int>(8));
  EXPECT_EQ(cores.allowed, Reading<int>(4));
  EXPECT_EQ(cores.threads_per_core, Reading<int>(2));
  EXPECT_EQ(cores.sockets, Reading<int>(2));
  EXPECT_EQ(cores.numa_nodes, Reading<int>(2));
  EXPECT_EQ(cores.governor, Reading<std::string>("powersave"));
  EXPECT_EQ(cores.mhz, Reading<int>(2600));
  EXPECT_EQ(cores.most_mhz, Reading<int>(3700));
}

TEST_F(MachineTest, LimitsAreTheTightestOfNestedGroups) {
  fake_.Write(own_ + "cgroup", "0::/job/task\n");
  fake_.Write("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  fake_.Write("sys/fs/cgroup/job/task/cpu.max", "max 100000\n");
  fake_.Write("sys/fs/cgroup/job/memory.max", "max\n");
  fake_.Write("sys/fs/cgroup/job/task/memory.max", "1000000\n");
  const Machine machine = Read();
  EXPECT_EQ(machine.cores.limit, Reading<double>(1.5));
  EXPECT_EQ(machine.memory.limit, Reading<uint64_t>(1'000'000));
}

TEST_F(MachineTest, LimitsOfVersion1) {
  fake_.Write("proc/self/mountinfo",
              "1 0 0:1 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
              "2 0 0:2 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  fake_.Write(own_ + "cgroup", "4:memory:/m\n2:cpu:/c\n");
  fake_.Write("sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "200000\n");
  fake_.Write("sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000\n");
  fake_.Write("sys/fs/cgroup/memory/m/memory.limit_in_bytes", "9223372036854771712\n");
  const Machine machine = Read();
  EXPECT_EQ(machine.cores.limit, Reading<double>(2));
  EXPECT_EQ(machine.memory.limit, Reading<uint64_t>(kUnlimited));
}

TEST_F(MachineTest, StorageIsTheInnermostMount) {
  Mount("ext4", "8:17");
  fake_.Write("sys/dev/block/8:17/queue/rotational", "1\n");
  MachineStorage storage = Read().storage;
  EXPECT_EQ(storage.file_system, Reading<std::string>("ext4"));
  EXPECT_EQ(storage.source, Reading<std::string>("the source"));
  EXPECT_EQ(storage.options, Reading<std::string>("rw,relatime,rw"));
  EXPECT_EQ(storage.kind, Reading<std::string>("rotating"));
  fake_.Write("sys/dev/block/8:17/queue/rotational", "0\n");
  EXPECT_EQ(Read().storage.kind, Reading<std::string>("solid state"));
  fake_.Write("sys/dev/block/8:17/queue/rotational", "1\n");
  fake_.Write("sys/dev/block/8:17/device/vendor", "Msft    \n");
  EXPECT_EQ(Read().storage.kind, Reading<std::string>("virtual")) << "vendor of a hypervisor";
  fake_.Write("sys/dev/block/8:17/device/vendor", "ATA     \n");
  EXPECT_EQ(Read().storage.kind, Reading<std::string>("rotating"));
  fake_.Write("sys/devices/vda/queue/rotational", "1\n");
  std::filesystem::create_symlink("../../devices/vda", options_.sys + "/dev/block/254:0");
  Mount("ext4");
  EXPECT_EQ(Read().storage.kind, Reading<std::string>("virtual")) << "nobody knows what is below";
  Mount("nfs4");
  EXPECT_THAT(*Read().storage.kind, HasSubstr("network"));
  Mount("tmpfs");
  EXPECT_EQ(Read().storage.kind, Reading<std::string>("memory"));
  options_.data = "/nowhere/at/all";
  EXPECT_THAT(Read().storage.kind.reason(), HasSubstr("/nowhere/at/all"));
}

TEST_F(MachineTest, KernelsSettings) {
  fake_.Write("proc/sys/kernel/osrelease", "6.1.0\n");
  fake_.Write("proc/sys/kernel/perf_event_paranoid", "-1\n");
  fake_.Write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  fake_.Write("dev/infiniband/uverbs0", "");
  const Machine machine = Read();
  EXPECT_EQ(machine.kernel.release, Reading<std::string>("6.1.0"));
  EXPECT_EQ(machine.kernel.perf_event_paranoid, Reading<int>(-1));
  EXPECT_EQ(machine.memory.huge_pages, Reading<std::string>("madvise"));
  EXPECT_TRUE(machine.kernel.rdma);
  fake_.Write("proc/sys/kernel/perf_event_paranoid", "much\n");
  EXPECT_THAT(Read().kernel.perf_event_paranoid.reason(),
              HasSubstr("does not begin with a number"));
}

TEST_F(MachineTest, Gpus) {
  const ScriptedNvml nvml(
      "devices 2\ndriver 580.1\ncuda 13000\n*.name NVIDIA X\n0.pcie_width 8\n"
      "0.most_pcie_width 16\nfail nvmlDeviceGetUtilizationRates 15 1\n");
  options_.gpus = ScriptedNvml::Options();
  const MachineGpus gpus = Read().gpus;
  EXPECT_EQ(gpus.count, Reading<int>(2));
  EXPECT_EQ(gpus.driver, Reading<std::string>("580.1"));
  EXPECT_EQ(gpus.cuda, Reading<std::string>("13.0"));
  ASSERT_EQ(gpus.gpus.size(), 2u);
  EXPECT_EQ(gpus.gpus[0].values->most_pcie_width, Reading<int>(16));
  EXPECT_FALSE(gpus.gpus[1].values) << "it is lost";
  EXPECT_TRUE(gpus.links.empty()) << "only one answers";
}

TEST_F(MachineTest, LinksBetweenGpus) {
  const ScriptedNvml nvml(
      "devices 4\n*.name NVIDIA X\n0.links 1:10:0:0 2:50:0:5 3:50:4:5\n1.links 2:30:0:5\n"
      "2.links 3:20:0:0\n");
  options_.gpus = ScriptedNvml::Options();
  const Machine machine = Read();
  const std::vector<GpuLink>& links = machine.gpus.links;
  ASSERT_EQ(links.size(), 6u);
  EXPECT_EQ(links[0].path, Reading<std::string>("NVLink"));
  EXPECT_EQ(links[0].peer_access, Reading<bool>(true));
  EXPECT_EQ(links[1].path, Reading<std::string>("several NUMA nodes"));
  EXPECT_EQ(links[2].peer_access, Reading<bool>(false));
  EXPECT_EQ(links[3].path, Reading<std::string>("a PCIe host bridge"));
  EXPECT_THAT(links[4].path.reason(), HasSubstr("nvmlDeviceGetTopologyCommonAncestor"));
  EXPECT_FALSE(links[4].peer_access);
  const std::string text = MachineText(machine);
  EXPECT_THAT(text, HasSubstr("0-1, 2-3: NVLink, with peer access"));
  EXPECT_THAT(text, HasSubstr("0-3: several NUMA nodes, without peer access"));
  EXPECT_THAT(MachineJson(machine),
              HasSubstr(R"("links":[{"devices":[0,1],"path":"NVLink","peer_access":true},)"));
}

TEST_F(MachineTest, LinksOfAnOldDriverAreUnavailable) {
  const ScriptedNvml nvml("devices 2\n*.name NVIDIA X\nfail nvmlDeviceGetP2PStatus 13\n");
  options_.gpus = ScriptedNvml::Options();
  const MachineGpus gpus = Read().gpus;
  ASSERT_EQ(gpus.links.size(), 1u);
  EXPECT_THAT(gpus.links[0].peer_access.reason(), HasSubstr("a newer driver has it"));
}

}  // namespace
}  // namespace recpack::probe
