#include "src/probe/command/watched_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "recpack/base/error.h"
#include "tests/probe/fake_machine.h"
#include "tests/probe/sleeper.h"

namespace recpack::probe {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::chrono::minutes kLong{10};
constexpr std::chrono::nanoseconds kNone{0};

void ExpectRefusal(int process, ErrorKind kind, const std::string& words,
                   const WatchedProcessOptions& options = {}) {
  try {
    const WatchedProcess watched(process, options);
    ADD_FAILURE() << "it was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    EXPECT_THAT(error.what(), HasSubstr(words));
  }
}

class WatchedProcessTest : public testing::TestWithParam<bool> {
 protected:
  WatchedProcessOptions Options() const { return {.use_pidfd = GetParam()}; }
};

TEST_P(WatchedProcessTest, SeesTheEnd) {
  Sleeper sleeper;
  WatchedProcess watched(sleeper.process(), Options());
  EXPECT_FALSE(watched.Wait(kNone));
  EXPECT_FALSE(watched.Wait(std::chrono::milliseconds(1)));
  ::kill(sleeper.process(), SIGKILL);
  EXPECT_TRUE(watched.Wait(kLong)) << "it is a zombie now";
  sleeper.Kill();
  EXPECT_TRUE(watched.Wait(kNone));
  EXPECT_TRUE(watched.Wait(std::chrono::nanoseconds::max()));
}

TEST_P(WatchedProcessTest, SeesTheEndOfOneThatWasReaped) {
  Sleeper sleeper;
  WatchedProcess watched(sleeper.process(), Options());
  sleeper.Kill();
  EXPECT_TRUE(watched.Wait(kLong));
}

INSTANTIATE_TEST_SUITE_P(PidfdOrNot, WatchedProcessTest, testing::Bool());

TEST(WatchedProcessBadTest, NoSuchProcess) {
  Sleeper sleeper;
  const int process = sleeper.process();
  sleeper.Kill();
  ExpectRefusal(process, ErrorKind::kNotFound, format("no process {}", process));
}

TEST(WatchedProcessBadTest, NoNumberOfAProcess) {
  ExpectRefusal(0, ErrorKind::kInvalidArgument, "invalid process number 0");
  ExpectRefusal(-5, ErrorKind::kInvalidArgument, "invalid process number -5");
}

TEST(WatchedProcessBadTest, AZombie) {
  Sleeper sleeper;
  ::kill(sleeper.process(), SIGKILL);
  siginfo_t info = {};
  ::waitid(P_PID, static_cast<id_t>(sleeper.process()), &info, WEXITED | WNOWAIT);
  ExpectRefusal(sleeper.process(), ErrorKind::kNotFound, "has ended");
}

TEST(WatchedProcessBadTest, AThread) {
  std::promise<int> number;
  std::promise<void> done;
  std::thread thread([&] {
    number.set_value(static_cast<int>(::syscall(SYS_gettid)));
    done.get_future().wait();
  });
  ExpectRefusal(number.get_future().get(), ErrorKind::kInvalidArgument,
                format("is a thread of process {}", ::getpid()));
  done.set_value();
  thread.join();
}

TEST(WatchedProcessBadTest, OneThatProcHides) {
  const Sleeper sleeper;
  const TemporaryFolder empty;
  WatchedProcess watched(sleeper.process(), {.proc = empty.path()});
  EXPECT_EQ(watched.name(), "");
  ASSERT_THAT(watched.unseen(), SizeIs(1));
  EXPECT_THAT(watched.unseen()[0].reason, HasSubstr("hidden"));
  EXPECT_THAT(watched.unseen()[0].right, HasSubstr("hidepid"));
  EXPECT_FALSE(watched.Wait(kNone));
}

TEST(WatchedProcessBadTest, TheNumberOfAnotherProcess) {
  FakeMachine machine;
  const int process = ::getpid();  // one that exists
  machine.Set({.process = process, .start = 5});
  WatchedProcess watched(process, {.proc = machine.Options().proc, .use_pidfd = false});
  EXPECT_FALSE(watched.Wait(kNone));
  machine.Set({.process = process, .start = 6});
  EXPECT_TRUE(watched.Wait(kNone));
}

TEST(WatchedProcessUserTest, OfAnotherNetworkItIsSaid) {
  FakeMachine machine;
  const int process = ::getpid();
  machine.Set({.process = process});
  const std::filesystem::path proc = machine.Options().proc;
  const auto unseen = [&](const std::string& its) {
    const auto link = proc / std::to_string(process) / "ns" / "net";
    std::filesystem::create_directories(link.parent_path());
    std::filesystem::remove(link);
    std::filesystem::create_symlink(its, link);
    return WatchedProcess(process, {.proc = proc, .use_pidfd = false}).unseen();
  };
  std::filesystem::create_directories(proc / "self" / "ns");
  std::filesystem::create_symlink("net:[1]", proc / "self" / "ns" / "net");
  EXPECT_THAT(unseen("net:[1]"), IsEmpty());
  const auto other = unseen("net:[2]");
  ASSERT_THAT(other, SizeIs(1));
  EXPECT_EQ(other[0].what, "its network");
  EXPECT_THAT(other[0].right, HasSubstr(format("nsenter --net --target {}", process)));
}

TEST(WatchedProcessUserTest, OwnProcessesHideNothing) {
  const Sleeper sleeper;
  const WatchedProcess watched(sleeper.process());
  EXPECT_EQ(watched.process(), sleeper.process());
  EXPECT_THAT(watched.name(), testing::Not(IsEmpty()));
  EXPECT_THAT(watched.user(), testing::Not(IsEmpty()));
  EXPECT_THAT(watched.unseen(), IsEmpty());
}

TEST(WatchedProcessUserTest, AnotherUsersTellsWhatItHides) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const Sleeper sleeper;
  const int child = ::fork();
  if (child == 0) {
    if (::setuid(65534) != 0) ::_exit(2);
    const WatchedProcess watched(sleeper.process());
    const bool told =
        watched.unseen().size() == 2 &&
        watched.unseen()[0].reason == format("process {} belongs to user root", sleeper.process());
    ::_exit(watched.user() == "root" && told ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace recpack::probe
