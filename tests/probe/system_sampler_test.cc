// Tests the sampler on this machine's /proc and /sys.
#include "src/probe/procfs/system_sampler.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "recpack/base/event_log.h"
#include "src/probe/procfs/system_rates.h"
#include "tests/probe/sleeper.h"

namespace recpack::probe {
namespace {

using testing::Contains;
using testing::Field;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST(SystemSamplerTest, SeesTheProcessAndItsThreads) {
  const Sleeper sleeper(3);
  SystemSampler sampler({sleeper.process()});
  const SystemSample sample = sampler.Sample();
  ASSERT_THAT(sample.processes, SizeIs(1));
  EXPECT_EQ(sample.processes[0].process, sleeper.process());
  EXPECT_EQ(sample.processes[0].parent, ::getpid());
  EXPECT_EQ(sample.processes[0].threads, 4);
  EXPECT_GT(sample.processes[0].resident_bytes, 0);
  ASSERT_THAT(sample.threads, SizeIs(4));
  EXPECT_EQ(sample.threads[0].thread, sleeper.process());
  EXPECT_EQ(sample.threads[3].name, "worker");
  EXPECT_THAT(sample.allowed_cores, Not(IsEmpty()));
}

TEST(SystemSamplerTest, SeesTheMachine) {
  SystemSampler sampler({::getpid()});
  const SystemSample sample = sampler.Sample();
  EXPECT_GT(sample.time_ns, 0);
  EXPECT_THAT(sample.cores, Not(IsEmpty()));
  EXPECT_GT(sample.memory.total_bytes, sample.memory.available_bytes);
  EXPECT_GT(sample.own_cpu_ns, 0);
}

TEST(SystemSamplerTest, AChildThatEndsIsGone) {
  Sleeper sleeper;
  SystemSampler sampler({sleeper.process()});
  EXPECT_THAT(sampler.Sample().processes, SizeIs(1));
  sleeper.Kill();
  EXPECT_THAT(sampler.Sample().processes, IsEmpty());
  EXPECT_THAT(sampler.Sample().threads, IsEmpty());
}

TEST(SystemSamplerTest, CountsTheWorkOfThreads) {
  const Sleeper sleeper;
  SystemSampler sampler({sleeper.process()});
  const SystemSample first = sampler.Sample();
  const SystemSample second = sampler.Sample();
  const SystemRates rates = RatesBetween(first, second);
  EXPECT_GT(rates.seconds, 0);
  ASSERT_THAT(rates.threads, SizeIs(1));
  EXPECT_EQ(rates.threads[0].cpu_share, 0) << "it sleeps";
  EXPECT_GT(rates.own_cores, 0);
}

// An unprivileged process samples one of root's.
TEST(SystemSamplerTest, TellsWhatAnotherUsersProcessHides) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const Sleeper sleeper;
  const int child = ::fork();
  if (child == 0) {
    if (::setuid(65534) != 0) ::_exit(2);
    SystemSampler sampler({sleeper.process()});
    const SystemSample sample = sampler.Sample();
    const bool seen = sample.processes.size() == 1 && sample.threads.size() == 1;
    const bool told =
        !sample.processes.at(0).io.read_bytes &&
        testing::Value(
            sampler.unseen(),
            Contains(testing::AllOf(Field(&Unseen::what, "I/O of processes"),
                                    Field(&Unseen::right, "CAP_SYS_PTRACE or the same user"))));
    ::_exit(seen && told ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(SystemSamplerTest, LeavesNoFilesOpen) {
  const auto open_files = [] {
    int count = 0;
    for (int fd = 0; fd < 1024; ++fd) count += ::fcntl(fd, F_GETFD) != -1 ? 1 : 0;
    return count;
  };
  const Sleeper sleeper(5);
  const int before = open_files();
  {
    SystemSampler sampler({sleeper.process()}, {.max_open_files = 6});
    sampler.Sample();
    EXPECT_LE(open_files(), before + 6);
    EXPECT_GT(open_files(), before);
  }
  EXPECT_EQ(open_files(), before);
}

}  // namespace
}  // namespace recpack::probe
