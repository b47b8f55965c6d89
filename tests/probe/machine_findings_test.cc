// Tests of findings, one each: the cause, whether it is sure, and the advice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "src/probe/doctor/machine.h"

namespace recpack::probe {
namespace {

using testing::HasSubstr;

constexpr uint64_t kMiB = 1 << 20;

// A machine without findings.
Machine Sound() {
  Machine machine;
  machine.cores.used = 8;
  machine.cores.limit = std::numeric_limits<double>::infinity();
  machine.cores.numa_nodes = 1;
  machine.memory.total = 64'000 * kMiB;
  machine.memory.limit = kUnlimited;
  machine.memory.locked = kUnlimited;
  machine.memory.shared = 8'000 * kMiB;
  machine.kernel.open_files = uint64_t{65536};
  machine.kernel.most_open_files = uint64_t{65536};
  machine.kernel.perf_event_paranoid = 2;
  machine.kernel.io_uring = true;
  machine.storage.kind = std::string("solid state");
  machine.storage.size = 1000 * kMiB;
  machine.storage.free = 500 * kMiB;
  machine.gpus.count = 0;
  return machine;
}

void ExpectOne(const Machine& machine, bool surely, const std::string& what,
               const std::string& action) {
  const std::vector<MachineFinding> findings = CheckMachine(machine);
  ASSERT_EQ(findings.size(), 1u) << FindingsText(findings);
  EXPECT_EQ(findings[0].surely, surely) << findings[0].what;
  EXPECT_THAT(findings[0].what, HasSubstr(what));
  EXPECT_THAT(findings[0].action, HasSubstr(action));
}

TEST(Findings, NoneOfASoundMachine) {
  EXPECT_EQ(FindingsText(CheckMachine(Sound())), "findings: none\n");
  EXPECT_TRUE(std::ranges::none_of(CheckMachine(Machine{}), &MachineFinding::surely))
      << "unavailable values give no findings";
}

TEST(Findings, SharedMemory) {
  Machine machine = Sound();
  machine.memory.shared = 64 * kMiB;
  ExpectOne(machine, true, "/dev/shm has 64 MiB", "--shm-size");
  machine.memory.shared = 512 * kMiB;
  ExpectOne(machine, false, "/dev/shm has 512 MiB", "--shm-size");
}

TEST(Findings, AQuotaBelowTheThreads) {
  Machine machine = Sound();
  machine.cores.limit = 2.5;
  ExpectOne(machine, true, "allows 2.5 processors", "--threads 2");
  machine.cores.used = 3;
  EXPECT_TRUE(CheckMachine(machine).empty()) << "as many threads as it allows";
}

TEST(Findings, LockedMemory) {
  Machine machine = Sound();
  machine.memory.locked = 8 * kMiB;
  EXPECT_TRUE(CheckMachine(machine).empty()) << "nobody needs it here";
  machine.gpus.count = 1;
  ExpectOne(machine, false, "lock 8 MiB", "memlock");
  machine.kernel.rdma = true;
  ExpectOne(machine, true, "InfiniBand", "ulimit -l");
}

TEST(Findings, OpenFiles) {
  Machine machine = Sound();
  machine.kernel.open_files = uint64_t{256};
  ExpectOne(machine, true, "256 files", "ulimit -n 65536");
  machine.kernel.open_files = uint64_t{1024};
  machine.kernel.most_open_files = kUnlimited;
  ExpectOne(machine, false, "1024 files", "ulimit -n 65536");
}

TEST(Findings, Governor) {
  Machine machine = Sound();
  machine.cores.governor = std::string("powersave");
  machine.cores.frequency_driver = std::string("acpi-cpufreq");
  ExpectOne(machine, true, "lowest clock", "performance");
  machine.cores.frequency_driver = std::string("intel_pstate");
  EXPECT_TRUE(CheckMachine(machine).empty()) << "its powersave raises the clock under load";
}

TEST(Findings, NumaNodes) {
  Machine machine = Sound();
  machine.cores.numa_nodes = 2;
  ExpectOne(machine, false, "2 NUMA nodes", "numactl");
}

TEST(Findings, KernelsSettings) {
  Machine machine = Sound();
  machine.kernel.perf_event_paranoid = 4;
  ExpectOne(machine, false, "perf_event_paranoid is 4", "sysctl");
  machine = Sound();
  machine.kernel.io_uring = Unavailable{"a filter"};
  ExpectOne(machine, false, "a filter", "io_uring_disabled=0");
}

TEST(Findings, Storage) {
  Machine machine = Sound();
  machine.storage.path = "/data";
  machine.storage.kind = std::string("rotating");
  ExpectOne(machine, true, "/data is on a rotating disk", "solid state");
  machine.storage.kind = std::string("network or user space");
  machine.storage.file_system = std::string("nfs4");
  machine.storage.source = std::string("server:/x");
  ExpectOne(machine, false, "nfs4 (server:/x)", "local disk");
  machine = Sound();
  machine.storage.options = std::string("rw,sync");
  machine.storage.mount_point = std::string("/mnt");
  ExpectOne(machine, true, "/mnt is mounted with `sync`", "async");
  machine = Sound();
  machine.storage.free = kMiB;
  ExpectOne(machine, false, "1 MiB free", "free some space");
}

TEST(Findings, LittleMemory) {
  Machine machine = Sound();
  machine.memory.limit = 512 * kMiB;
  ExpectOne(machine, false, "512 MiB of memory", "caches small");
}

TEST(Findings, Gpus) {
  Machine machine = Sound();
  machine.gpus.count = 1;
  GpuValues values;
  values.pcie_width = 4;
  values.most_pcie_width = 16;
  machine.gpus.gpus = {{.device = 0, .values = values}};
  ExpectOne(machine, true, "4 of 16 lanes", "slot");
  values.pcie_width = 16;
  values.clock_reasons = std::vector<GpuClockReason>{{"idle", false}, {"too hot", true}};
  machine.gpus.gpus = {{.device = 3, .values = values}};
  ExpectOne(machine, true, "GPU 3 is slowed down: too hot", "cooling");
  machine.gpus.gpus = {{.device = 2, .values = Unavailable{"GPU is lost"}}};
  ExpectOne(machine, true, "GPU 2: GPU is lost", "reboot");
  machine = Sound();
  machine.gpus.device_files = true;
  machine.gpus.count = Unavailable{"no library"};
  ExpectOne(machine, true, "no library", "DRIVER_CAPABILITIES");
}

TEST(Findings, SureOnesComeFirst) {
  Machine machine = Sound();
  machine.cores.numa_nodes = 2;
  machine.memory.shared = kMiB;
  const auto findings = CheckMachine(machine);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_TRUE(findings[0].surely);
  EXPECT_FALSE(findings[1].surely);
}

}  // namespace
}  // namespace recpack::probe
