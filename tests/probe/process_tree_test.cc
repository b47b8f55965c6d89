// Tests the members of a process tree and the resources that it uses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "src/probe/procfs/system_rates.h"
#include "tests/probe/fake_machine.h"

namespace recpack::probe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<int> Processes(const SystemSample& sample) {
  std::vector<int> numbers;
  for (const ProcessSample& process : sample.processes) numbers.push_back(process.process);
  return numbers;
}

class ProcessTreeTest : public testing::Test {
 protected:
  // Makes the sampler scan for new processes.
  void Fork() { machine_.Stat("cpu0 1 1 1 1 1 1 1 1\n", ++forks_); }

  FakeMachine machine_;
  int forks_ = 1;
};

TEST_F(ProcessTreeTest, HoldsDescendantsAndNobodyElse) {
  machine_.Set({.process = 50});
  machine_.Set({.process = 60, .parent = 50});
  machine_.Set({.process = 61, .parent = 60});
  machine_.Set({.process = 40, .parent = 61});  // PIDs have wrapped around
  machine_.Set({.process = 70, .parent = 1});
  SystemSampler sampler({50}, machine_.Options());
  EXPECT_THAT(Processes(sampler.Sample()), ElementsAre(40, 50, 60, 61));
}

TEST_F(ProcessTreeTest, FindsChildrenThatBeginLater) {
  machine_.Set({.process = 50});
  SystemSampler sampler({50}, machine_.Options());
  EXPECT_THAT(Processes(sampler.Sample()), ElementsAre(50));
  machine_.Set({.process = 60, .parent = 50});
  EXPECT_THAT(Processes(sampler.Sample()), ElementsAre(50)) << "no process has begun";
  Fork();
  EXPECT_THAT(Processes(sampler.Sample()), ElementsAre(50, 60));
}

TEST_F(ProcessTreeTest, WithoutACountOfForksLooksEachTime) {
  machine_.Write("proc/stat", "cpu0 1 1 1 1 1 1 1 1\n");
  machine_.Set({.process = 50});
  SystemSampler sampler({50}, machine_.Options());
  EXPECT_THAT(Processes(sampler.Sample()), ElementsAre(50));
  machine_.Set({.process = 60, .parent = 50});
  EXPECT_THAT(Processes(sampler.Sample()), ElementsAre(50, 60));
}

TEST_F(ProcessTreeTest, KeepsAChildWhoseParentHasEnded) {
  machine_.Set({.process = 50});
  machine_.Set({.process = 60, .parent = 50});
  SystemSampler sampler({50}, machine_.Options());
  sampler.Sample();
  machine_.End(50);
  machine_.Set({.process = 60, .parent = 1});
  EXPECT_THAT(Processes(sampler.Sample()), ElementsAre(60));
}

TEST_F(ProcessTreeTest, AnOrphanNeverSeenBelongsByItsGroupOrSession) {
  machine_.Set({.process = 50});
  SystemSampler sampler({50}, machine_.Options());
  sampler.Sample();
  machine_.End(50);
  machine_.Set({.process = 60, .parent = 1, .group = 50, .session = 7});
  machine_.Set({.process = 61, .parent = 1, .group = 61, .session = 50});
  machine_.Set({.process = 62, .parent = 1, .group = 7, .session = 7});
  Fork();
  EXPECT_THAT(Processes(sampler.Sample()), ElementsAre(60, 61));
}

TEST_F(ProcessTreeTest, ASessionThatTheRootDoesNotLeadIsNotTheTrees) {
  machine_.Set({.process = 50, .group = 50, .session = 7});
  machine_.Set({.process = 60, .parent = 7, .group = 60, .session = 7});
  SystemSampler sampler({50}, machine_.Options());
  EXPECT_THAT(Processes(sampler.Sample()), ElementsAre(50));
}

TEST_F(ProcessTreeTest, ChildrenOfTheAdopterBelong) {
  machine_.Set({.process = 9});
  machine_.Set({.process = 50, .parent = 9});
  machine_.Set({.process = 60, .parent = 9});
  SystemSamplerOptions options = machine_.Options();
  options.adopter = 9;
  SystemSampler sampler({50}, options);
  EXPECT_THAT(Processes(sampler.Sample()), ElementsAre(50, 60));
}

TEST_F(ProcessTreeTest, AnotherProcessOfTheSameNumberIsNotTheOldOne) {
  machine_.Set({.process = 50});
  SystemSamplerOptions options = machine_.Options();
  options.max_open_files = 1;  // so that files are opened again
  SystemSampler sampler({50}, options);
  EXPECT_THAT(Processes(sampler.Sample()), ElementsAre(50));
  machine_.Set({.process = 50, .start = 999});
  EXPECT_THAT(Processes(sampler.Sample()), IsEmpty());
}

TEST_F(ProcessTreeTest, ARootThatIsNotThereIsNoError) {
  SystemSampler sampler({50}, machine_.Options());
  EXPECT_THAT(Processes(sampler.Sample()), IsEmpty());
}

TEST_F(ProcessTreeTest, ProcessesThatEndInMidReadAreSkipped) {
  machine_.Set({.process = 50});
  machine_.Set({.process = 60, .parent = 50});
  machine_.Set({.process = 61, .parent = 50});
  SystemSampler sampler({50}, machine_.Options());
  machine_.Write("proc/60/stat", "");
  machine_.Write("proc/61/stat", "61 (trai");
  EXPECT_THAT(Processes(sampler.Sample()), ElementsAre(50));
}

TEST_F(ProcessTreeTest, ItselfIsNeverInTheTree) {
  machine_.Set({.process = 50});
  machine_.Set({.process = ::getpid(), .parent = 50});
  SystemSampler sampler({50}, machine_.Options());
  EXPECT_THAT(Processes(sampler.Sample()), ElementsAre(50));
}

TEST_F(ProcessTreeTest, NamesMayHoldAnything) {
  machine_.Set({.process = 50, .name = "a) R 1 (b"});
  SystemSampler sampler({50}, machine_.Options());
  const SystemSample sample = sampler.Sample();
  ASSERT_THAT(sample.processes, SizeIs(1));
  EXPECT_EQ(sample.processes[0].name, "a) R 1 (b");
  EXPECT_EQ(sample.processes[0].state, 'S');
}

TEST_F(ProcessTreeTest, ThreadsComeAndGo) {
  const FakeProcess process = {
      .process = 50, .state = 'R', .user = 7, .threads = 2, .processor = 1};
  machine_.Set(process);
  machine_.SetThread(process, 51);
  SystemSampler sampler({50}, machine_.Options());
  SystemSample sample = sampler.Sample();
  ASSERT_THAT(sample.threads, SizeIs(2));
  const ThreadSample& thread = sample.threads[1];
  EXPECT_EQ(thread.process, 50);
  EXPECT_EQ(thread.thread, 51);
  EXPECT_EQ(thread.state, 'R');
  EXPECT_EQ(thread.processor, 1);
  EXPECT_EQ(thread.user_ns, 70'000'000);
  EXPECT_EQ(thread.run_ns, 1000);
  EXPECT_EQ(thread.run_queue_wait_ns, 2000);
  EXPECT_EQ(thread.block_io_wait_ns, 30'000'000);

  machine_.EndThread(50, 51);
  machine_.SetThread(process, 52);
  sampler.Sample(sample);
  ASSERT_THAT(sample.threads, SizeIs(2)) << "as many as before, but not the same";
  EXPECT_EQ(sample.threads[1].thread, 52);

  FakeProcess more = process;
  more.threads = 3;
  machine_.Set(more);
  machine_.SetThread(process, 49);
  sampler.Sample(sample);
  ASSERT_THAT(sample.threads, SizeIs(3));
  EXPECT_EQ(sample.threads[0].thread, 49);
}

TEST_F(ProcessTreeTest, TimesOfAThreadThatRunsAreOfEachSampleAndTheRestIsSeenSoon) {
  machine_.Set({.process = 50, .state = 'S', .user = 5});
  SystemSampler sampler({50}, machine_.Options());
  SystemSample sample = sampler.Sample();
  machine_.Set({.process = 50, .state = 'D', .user = 6});
  machine_.Write("proc/50/task/50/schedstat", "1001 2000 4\n");
  sampler.Sample(sample);
  EXPECT_EQ(sample.threads.at(0).run_ns, 1001);
  for (int i = 0; i < 3; ++i) sampler.Sample(sample);
  EXPECT_EQ(sample.threads.at(0).state, 'D') << "it has run since it was read: not forgotten";
  EXPECT_EQ(sample.threads.at(0).user_ns, 60'000'000);
  // Due, as it was not read for four samples: read at once.
  for (int i = 0; i < 3; ++i) sampler.Sample(sample);
  machine_.Set({.process = 50, .state = 'Z', .user = 7});
  machine_.Write("proc/50/task/50/schedstat", "1002 2000 5\n");
  sampler.Sample(sample);
  EXPECT_EQ(sample.threads.at(0).state, 'Z');
}

TEST_F(ProcessTreeTest, AThreadThatSleepsIsLookedAtNowAndThen) {
  machine_.Set({.process = 50, .state = 'S', .user = 6});
  SystemSampler sampler({50}, machine_.Options());
  SystemSample sample = sampler.Sample();
  // Woken, but not yet on a processor.
  machine_.Set({.process = 50, .state = 'R', .user = 6});
  for (int i = 0; i < 32; ++i) sampler.Sample(sample);
  EXPECT_EQ(sample.threads.at(0).state, 'R');
  // After a long sleep.
  for (int i = 0; i < 20; ++i) sampler.Sample(sample);
  machine_.Write("proc/50/task/50/schedstat", "1777 2000 5\n");
  for (int i = 0; i < 4; ++i) sampler.Sample(sample);
  EXPECT_EQ(sample.threads.at(0).run_ns, 1777);
  machine_.EndThread(50, 50);
  for (int i = 0; i < 4; ++i) sampler.Sample(sample);
  EXPECT_THAT(sample.threads, SizeIs(0));
}

// Without schedstat, or if the kernel hides it, CPU time is from stat alone.
TEST_F(ProcessTreeTest, WithoutSchedulesEachSampleReadsTheStat) {
  machine_.Set({.process = 50, .user = 5});
  machine_.Write("proc/50/task/50/schedstat", "0 0 0\n");
  SystemSampler sampler({50}, machine_.Options());
  SystemSample sample = sampler.Sample();
  for (int user = 6; user < 40; ++user) {
    machine_.Set({.process = 50, .user = user});
    machine_.Write("proc/50/task/50/schedstat", "0 0 0\n");
    sampler.Sample(sample);
    ASSERT_EQ(sample.threads.at(0).user_ns, user * 10'000'000);
    ASSERT_EQ(sample.threads.at(0).run_ns, std::nullopt);
  }
}

TEST_F(ProcessTreeTest, CpuTimeOfEndedChildrenCountsOnce) {
  machine_.Set({.process = 50, .user = 100});
  machine_.Set({.process = 60, .parent = 50, .user = 1000});
  SystemSampler sampler({50}, machine_.Options());
  EXPECT_EQ(sampler.Sample().tree_cpu_ns, 0) << "of before, nobody knows when";

  machine_.Set({.process = 50, .user = 102});
  machine_.Set({.process = 60, .parent = 50, .user = 1010});
  machine_.Set({.process = 61, .parent = 50, .major_faults = 6, .user = 5});
  Fork();
  SystemSample sample = sampler.Sample();
  EXPECT_EQ(sample.tree_cpu_ns, 170'000'000);
  EXPECT_EQ(sample.tree_major_faults, 6);

  // 60 used three more ticks and ended; a process that was never seen used four.
  machine_.End(60);
  machine_.Set({.process = 50, .children_major_faults = 2, .user = 102, .children_user = 1013 + 4});
  sampler.Sample(sample);
  EXPECT_EQ(sample.tree_cpu_ns, 240'000'000);
  EXPECT_EQ(sample.tree_major_faults, 8);
}

TEST_F(ProcessTreeTest, AllowedCoresAreThoseOfAnyThread) {
  const FakeProcess process = {.process = 50};
  machine_.Set(process);
  machine_.SetThread(process, 50, "0");
  machine_.SetThread(process, 51, "2-3,8");
  SystemSampler sampler({50}, machine_.Options());
  EXPECT_THAT(sampler.Sample().allowed_cores, ElementsAre(0, 2, 3, 8));
  machine_.SetThread(process, 50, "1");
  sampler.Sample();  // reads one thread's affinity per sample
  EXPECT_THAT(sampler.Sample().allowed_cores, ElementsAre(1, 2, 3, 8));
}

TEST_F(ProcessTreeTest, FewOpenFilesGiveTheSame) {
  for (int i = 0; i < 5; ++i) machine_.Set({.process = 50 + i, .parent = i == 0 ? 1 : 50});
  SystemSamplerOptions few = machine_.Options();
  few.max_open_files = 2;
  SystemSampler sampler({50}, few);
  for (int i = 0; i < 2; ++i) {
    const SystemSample sample = sampler.Sample();
    EXPECT_THAT(sample.processes, SizeIs(5));
    EXPECT_THAT(sample.threads, SizeIs(5));
    EXPECT_EQ(sample.processes[4].io.read_bytes, 4096);
  }
}

}  // namespace
}  // namespace recpack::probe
