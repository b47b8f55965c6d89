// Tests that values that cannot be read are reported with the reason, and are never 0.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/probe/fake_machine.h"

namespace recpack::probe {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

testing::Matcher<const std::vector<Unseen>&> Tells(const std::string& what,
                                                   const std::string& reason,
                                                   const std::string& right) {
  return Contains(AllOf(Field(&Unseen::what, what), Field(&Unseen::reason, HasSubstr(reason)),
                        Field(&Unseen::right, HasSubstr(right))));
}

class UnseenTest : public testing::Test {
 protected:
  UnseenTest() {
    machine_.Set({.process = 50});
    machine_.Write("sys/fs/cgroup/cpu.stat", "nr_periods 1\nnr_throttled 0\nthrottled_usec 0\n");
    machine_.Write("sys/fs/cgroup/cpuset.cpus.effective", "0-1\n");
    machine_.Write("sys/fs/cgroup/memory.max", "max\n");
    machine_.Write("sys/fs/cgroup/memory.current", "5\n");
    for (const char* name : {"cpu", "io", "memory"}) {
      machine_.Write(format("sys/fs/cgroup/{}.pressure", name), "some total=1\nfull total=1\n");
    }
  }

  FakeMachine machine_;
};

TEST_F(UnseenTest, NothingWhereAllCanBeRead) {
  SystemSampler sampler({50}, machine_.Options());
  sampler.Sample();
  for (const Unseen& it : sampler.unseen()) {
    ADD_FAILURE() << it.what << ": " << it.reason;
  }
}

TEST_F(UnseenTest, EachIsToldOnce) {
  machine_.Remove("proc/pressure");
  SystemSampler sampler({50}, machine_.Options());
  sampler.Sample();
  sampler.Sample();
  EXPECT_THAT(sampler.unseen(), SizeIs(1));
}

TEST_F(UnseenTest, AContainerWithoutPressure) {
  machine_.Remove("proc/pressure");
  SystemSampler sampler({50}, machine_.Options());
  EXPECT_EQ(sampler.Sample().pressure.io.some_ns, std::nullopt);
  EXPECT_THAT(sampler.unseen(), Tells("pressure stall information", "No such file", "psi=1"));
}

TEST_F(UnseenTest, PressureOfOldKernelsHasNoFullLineForTheProcessor) {
  machine_.Write("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n");
  SystemSampler sampler({50}, machine_.Options());
  const SystemSample sample = sampler.Sample();
  EXPECT_EQ(sample.pressure.cpu.some_ns, 7000);
  EXPECT_EQ(sample.pressure.cpu.full_ns, std::nullopt);
  EXPECT_EQ(sample.pressure.io.full_ns, 5000);
}

TEST_F(UnseenTest, IoOfAnotherUsersProcess) {
  if (::geteuid() == 0) {
    // Root may read everything: reading a folder in its place fails, with another errno.
    machine_.Remove("proc/50/io");
    machine_.Write("proc/50/io/x", "");
  } else {
    std::filesystem::permissions(machine_.Options().proc + "/50/io", std::filesystem::perms::none);
  }
  SystemSampler sampler({50}, machine_.Options());
  const SystemSample sample = sampler.Sample();
  ASSERT_THAT(sample.processes, SizeIs(1));
  EXPECT_EQ(sample.processes[0].io.read_bytes, std::nullopt);
  EXPECT_THAT(sampler.unseen(), Tells("I/O of processes", "/proc/50/io", ""));
}

TEST_F(UnseenTest, IoWithoutAccounting) {
  machine_.Remove("proc/50/io");
  SystemSampler sampler({50}, machine_.Options());
  EXPECT_EQ(sampler.Sample().processes.at(0).io.read_bytes, std::nullopt);
  EXPECT_THAT(sampler.unseen(),
              Tells("I/O of processes", "No such file", "CONFIG_TASK_IO_ACCOUNTING"));
}

TEST_F(UnseenTest, IoOfAZombieIsNoFinding) {
  machine_.Set({.process = 50, .state = 'Z'});
  machine_.Remove("proc/50/io");
  SystemSampler sampler({50}, machine_.Options());
  EXPECT_EQ(sampler.Sample().processes.at(0).state, 'Z');
  EXPECT_THAT(sampler.unseen(), IsEmpty());
}

TEST_F(UnseenTest, RunQueueWaitThatTheKernelDoesNotCount) {
  machine_.Set({.process = 50, .user = 10});
  machine_.Write("proc/50/task/50/schedstat", "0 0 0\n");
  SystemSampler sampler({50}, machine_.Options());
  EXPECT_EQ(sampler.Sample().threads.at(0).run_queue_wait_ns, std::nullopt);
  EXPECT_THAT(sampler.unseen(),
              Tells("run-queue wait of threads", "not counted", "CONFIG_SCHED_INFO"));
}

TEST_F(UnseenTest, RunQueueWaitWithoutTheFile) {
  machine_.Remove("proc/50/task/50/schedstat");
  SystemSampler sampler({50}, machine_.Options());
  EXPECT_EQ(sampler.Sample().threads.at(0).run_queue_wait_ns, std::nullopt);
  EXPECT_THAT(sampler.unseen(), Tells("run-queue wait of threads", "No such file", "CONFIG"));
}

TEST_F(UnseenTest, BlockIoWaitThatIsNotCounted) {
  machine_.Write("proc/sys/kernel/task_delayacct", "0\n");
  SystemSampler sampler({50}, machine_.Options());
  EXPECT_EQ(sampler.Sample().threads.at(0).block_io_wait_ns, std::nullopt);
  EXPECT_THAT(sampler.unseen(), Tells("block I/O wait of threads", "", "kernel.task_delayacct=1"));
}

TEST_F(UnseenTest, RefaultsOfKernelsBefore59HaveAnotherName) {
  machine_.Write("proc/vmstat", "pgmajfault 4\nworkingset_refault 9\n");
  SystemSampler sampler({50}, machine_.Options());
  const SystemSample sample = sampler.Sample();
  EXPECT_EQ(sample.page_cache.refaults, 9);
  EXPECT_EQ(sample.page_cache.major_faults, 4);
  EXPECT_EQ(sample.page_cache.read_bytes, std::nullopt);
}

TEST_F(UnseenTest, RefaultsThatNoNameGives) {
  machine_.Write("proc/vmstat", "pgmajfault 4\n");
  SystemSampler sampler({50}, machine_.Options());
  EXPECT_EQ(sampler.Sample().page_cache.refaults, std::nullopt);
  EXPECT_THAT(sampler.unseen(), Tells("page-cache refaults", "workingset_refault_file", "Linux"));
}

TEST_F(UnseenTest, CoresOfOldKernelsSayNoSteal) {
  machine_.Stat("cpu0 10 0 5 80 3 1 1\n", 1);
  SystemSampler sampler({50}, machine_.Options());
  const SystemSample sample = sampler.Sample();
  ASSERT_THAT(sample.cores, SizeIs(1));
  EXPECT_EQ(sample.cores[0].busy_ns, 170'000'000);
  EXPECT_EQ(sample.cores[0].iowait_ns, 30'000'000);
  EXPECT_EQ(sample.cores[0].steal_ns, std::nullopt);
}

TEST_F(UnseenTest, WhichProcessorsMayBeUsed) {
  machine_.Remove("proc/50/task/50/status");
  SystemSampler sampler({50}, machine_.Options());
  EXPECT_THAT(sampler.Sample().allowed_cores, IsEmpty());
  EXPECT_THAT(sampler.unseen(), Tells("processors that the tree may use", "/proc/PID/status", ""));
}

TEST_F(UnseenTest, NoProcAtAll) {
  SystemSampler sampler({50}, {.proc = "/nonexistent/proc", .sys = "/nonexistent/sys"});
  const SystemSample sample = sampler.Sample();
  EXPECT_THAT(sample.cores, IsEmpty());
  EXPECT_EQ(sample.memory.total_bytes, std::nullopt);
  EXPECT_THAT(sampler.unseen(), Tells("processors", "No such file", "/proc"));
  EXPECT_THAT(sampler.unseen(), Tells("memory", "No such file", "/proc"));
  EXPECT_THAT(sampler.unseen(), Tells("network", "No such file", "/proc"));
  EXPECT_THAT(sampler.unseen(), Tells("block devices", "No such file", "/proc"));
  EXPECT_THAT(sampler.unseen(), Tells("child processes", "No such file", "/proc"));
}

TEST_F(UnseenTest, FilesOfNonsenseAreNoCrash) {
  const std::string nonsense = "\n\n \t (\xff :: -1 99999999999999999999999 )\ncpu cpux -\nsome\n";
  for (const char* file : {"stat", "diskstats", "meminfo", "vmstat", "net/dev", "pressure/io",
                           "self/mountinfo", "50/io", "50/cgroup", "50/task/50/stat",
                           "50/task/50/schedstat", "50/task/50/status", "50/stat"}) {
    machine_.Write(std::string("proc/") + file, nonsense);
    SystemSampler sampler({50}, machine_.Options());
    sampler.Sample();
    machine_.Write(std::string("proc/") + file, "");
    sampler.Sample();
  }
}

}  // namespace
}  // namespace recpack::probe
