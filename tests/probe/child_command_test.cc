#include "src/probe/command/child_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <string>

#include "src/base/format.h"
#include "src/probe/procfs/process_stat.h"
#include "tests/base/temporary_folder.h"

namespace recpack::probe {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::chrono::minutes kLong{10};
constexpr std::chrono::milliseconds kMoment{1};

CommandEnd EndOf(const std::vector<std::string>& command) {
  ChildCommand child(command);
  return child.Wait(kLong).value();
}

CommandEnd Shell(const std::string& script) { return EndOf({"sh", "-c", script}); }

// Waits until the other side has written the file.
std::string Text(const std::string& path) {
  for (;;) {
    std::ifstream file(path);
    std::string line;
    if (std::getline(file, line) && !file.eof()) return line;
    ::usleep(1000);
  }
}

TEST(ChildCommandTest, GivesTheExitCode) {
  EXPECT_EQ(Shell("exit 0").exit_code, 0);
  EXPECT_EQ(Shell("exit 3").exit_code, 3);
  EXPECT_EQ(Shell("exit 3").signal, 0);
  EXPECT_EQ(Shell("exit 3").Text(), "ended with exit code 3");
}

TEST(ChildCommandTest, GivesTheSignalAsAShellDoes) {
  const CommandEnd end = Shell("kill -9 $$");
  EXPECT_EQ(end.exit_code, 137);
  EXPECT_EQ(end.signal, 9);
  EXPECT_EQ(end.Text(), "was ended by signal 9 (Killed)");
}

TEST(ChildCommandTest, AddsToTheEnvironment) {
  ::setenv("RECPACK_TEST_KEPT", "kept", 1);
  ::setenv("RECPACK_TEST_CHANGED", "old", 1);
  ChildCommand child(
      {"sh", "-c", "test \"$RECPACK_TEST_KEPT $RECPACK_TEST_CHANGED $NEW\" = 'kept new a=b'"},
      {{"RECPACK_TEST_CHANGED", "new"}, {"NEW", "a=b"}});
  EXPECT_EQ(child.Wait(kLong)->exit_code, 0);
}

TEST(ChildCommandTest, HasAGroupOfItsOwn) {
  ChildCommand child({"sleep", "1000"});
  EXPECT_EQ(::getpgid(child.process()), child.process());
  child.Kill(SIGKILL);
}

TEST(ChildCommandTest, WaitGivesUpAfterItsTimeout) {
  ChildCommand child({"sleep", "1000"});
  EXPECT_EQ(child.Wait(kMoment), std::nullopt);
  EXPECT_EQ(child.Wait(std::chrono::nanoseconds(0)), std::nullopt);
  EXPECT_EQ(child.AnyRunning(), true);
  child.Kill(SIGTERM);
  EXPECT_EQ(child.Wait(std::chrono::nanoseconds::max())->signal, SIGTERM);
  EXPECT_EQ(child.Wait(kMoment)->signal, SIGTERM) << "asked again";
  EXPECT_EQ(child.AnyRunning(), false);
}

struct BadStart {
  std::vector<std::string> command;
  int exit_code;
  std::string words;
};

class BadStartTest : public testing::Test {
 protected:
  void Expect(const BadStart& bad) {
    try {
      ChildCommand child(bad.command);
      ADD_FAILURE() << "it was started";
    } catch (const Error& error) {
      EXPECT_EQ(StartExitCode(error), bad.exit_code) << error.what();
      EXPECT_THAT(error.what(), HasSubstr(bad.words));
    }
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "nothing is left behind";
  }
  std::string File(const std::string& name, const std::string& text, int mode) const {
    std::ofstream(folder_ / name) << text;
    ::chmod((folder_ / name).c_str(), static_cast<mode_t>(mode));
    return folder_ / name;
  }
  TemporaryFolder folder_;
};

TEST_F(BadStartTest, NotFound) {
  Expect(
      {{"recpack-no-such-command"}, 127, "command not found: recpack-no-such-command; check the"});
  Expect({{"/no/such/file"}, 127, "command not found: /no/such/file"});
  Expect({{File("file", "x", 0644) + "/below"}, 127, "command not found"});
}

TEST_F(BadStartTest, NoCommand) {
  Expect({{}, 126, "no command is given"});
  Expect({{""}, 126, "no command is given"});
}

TEST_F(BadStartTest, NotExecutable) {
  Expect({{File("data", "x", 0644)}, 126, "may not be executed: Permission denied; chmod +x"});
}

TEST_F(BadStartTest, AFolder) { Expect({{folder_.path()}, 126, "it is a folder"}); }

TEST_F(BadStartTest, AScriptWithoutItsInterpreter) {
  Expect({{File("script", "#!/no/such/shell\n", 0755)}, 126, "its interpreter does not exist"});
}

TEST_F(BadStartTest, TooManyArguments) {
  Expect({{"true", std::string(10'000'000, 'x')}, 126, "Argument list too long"});
}

TEST_F(BadStartTest, TheNextCommandStarts) {
  Expect({{"/no/such/file"}, 127, ""});
  EXPECT_EQ(Shell("exit 4").exit_code, 4);
}

TEST(ChildCommandTest, AFileOfTextIsAShellScript) {
  const TemporaryFolder folder;
  std::ofstream(folder / "script") << "exit 5\n";
  ::chmod((folder / "script").c_str(), 0755);
  EXPECT_EQ(EndOf({folder / "script"}).exit_code, 5);
}

// Restores the default action of a signal, as nohup and shells with background jobs ignore it.
class Heard {
 public:
  explicit Heard(int signal) : signal_(signal), before_(::signal(signal, SIG_DFL)) {}
  ~Heard() { ::signal(signal_, before_); }
  Heard(const Heard&) = delete;

 private:
  const int signal_;
  const sighandler_t before_;
};

TEST(ChildCommandTest, PassesSignalsOn) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    const Heard heard(signal);
    const TemporaryFolder folder;
    ChildCommand child({"sh", "-c",
                        format("trap 'exit {}' {}; echo > {}/ready; while :; do sleep 0.01; done",
                               40 + signal, signal, folder.path())});
    Text(folder / "ready");
    EXPECT_EQ(child.passed_on(), 0);
    ::raise(signal);
    EXPECT_EQ(child.Wait(kLong)->exit_code, 40 + signal);
    EXPECT_EQ(child.passed_on(), signal);
  }
}

TEST(ChildCommandTest, ASignalThatIsIgnoredStaysSo) {
  ::signal(SIGHUP, SIG_IGN);  // as nohup does
  {
    ChildCommand child({"sh", "-c", "kill -HUP $$; exit 6"});
    EXPECT_EQ(child.Wait(kLong)->exit_code, 6);
    EXPECT_EQ(::signal(SIGHUP, SIG_IGN), SIG_IGN);
  }
  ::signal(SIGHUP, SIG_DFL);
}

TEST(ChildCommandTest, HandlersAndMasksAreAsTheyWere) {
  sigset_t before, after;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &before);
  Shell("true");
  ::pthread_sigmask(SIG_BLOCK, nullptr, &after);
  EXPECT_EQ(::sigismember(&before, SIGTERM), ::sigismember(&after, SIGTERM));
  EXPECT_EQ(::signal(SIGTERM, SIG_DFL), SIG_DFL);
  EXPECT_EQ(Shell("kill -TERM $$").signal, SIGTERM) << "the command's mask lets them through";
}

TEST(ChildCommandTest, KnowsWhatItLeftBehind) {
  ChildCommand child({"sh", "-c", "setsid sleep 1000 & exit 7"});
  EXPECT_EQ(child.Wait(kLong)->exit_code, 7);
  EXPECT_EQ(child.AnyRunning(), true);
  EXPECT_THAT(Descendants("/proc", ::getpid()), SizeIs(1));
  child.Kill(SIGKILL);
  EXPECT_EQ(child.AnyRunning(), false);
  EXPECT_THAT(Descendants("/proc", ::getpid()), IsEmpty());
}

TEST(ChildCommandTest, KillsTheWholeTree) {
  const TemporaryFolder folder;
  ChildCommand child({"sh", "-c",
                      format("setsid sh -c 'sleep 1000 & echo > {}/ready; sleep 1000' & "
                             "sleep 1000",
                             folder.path())});
  Text(folder / "ready");
  child.Kill(SIGKILL);
  EXPECT_EQ(child.Wait(kLong)->signal, SIGKILL);
  EXPECT_EQ(child.AnyRunning(), false);
}

std::string All(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Many programs save their state at the first SIGTERM and end at once at a second one.
TEST(ChildCommandTest, ASignalReachesEachProcessOnce) {
  const TemporaryFolder folder;
  // Traps run in the order of signal numbers: SIGWINCH's after a last SIGTERM's.
  std::ofstream(folder / "count") << format(
      "trap \"echo term >> $1\" {}\ntrap 'exit 0' {}\necho > $1.ready\n"
      "while :; do sleep 0.01; done\n",
      SIGTERM, SIGWINCH);
  ChildCommand child(
      {"sh", "-c", format("cd {}; setsid sh count other & exec sh count own", folder.path())});
  Text(folder / "own.ready");
  Text(folder / "other.ready");
  child.Kill(SIGTERM);
  child.Kill(SIGWINCH);
  EXPECT_EQ(child.Wait(kLong)->exit_code, 0);
  while (child.AnyRunning().value_or(false)) ::usleep(1000);
  EXPECT_EQ(All(folder / "own"), "term\n");
  EXPECT_EQ(All(folder / "other"), "term\n");
}

// Runs a process in a new session on its own terminal. Returns its output and exit code.
struct OnTerminal {
  explicit OnTerminal(int (*body)()) {
    process = ::forkpty(&terminal, nullptr, nullptr, nullptr);
    if (process != 0) return;
    const Heard heard(SIGINT);
    ::_exit(body());
  }
  int ExitCode() const {
    std::string printed;
    char c = 0;
    while (::read(terminal, &c, 1) == 1) printed += c;
    int status = 0;
    ::waitpid(process, &status, 0);
    ::close(terminal);
    EXPECT_TRUE(WIFEXITED(status)) << printed;
    return WEXITSTATUS(status);
  }
  int process = 0;
  int terminal = -1;
};

// Exit code 0 if the shell's group is the foreground group of its terminal.
constexpr const char* kIsInFront =
    "read p n s pp group se t front rest < /proc/$$/stat; "
    "test $group = $front && test $group = $$";

TEST(ChildCommandTest, TheCommandGetsTheTerminalAndItComesBack) {
  const OnTerminal there([] {
    ChildCommand child({"sh", "-c", kIsInFront});
    const int code = child.Wait(kLong)->exit_code;
    if (code != 0) return code;
    return ::tcgetpgrp(0) == ::getpgrp() ? 0 : 100;
  });
  EXPECT_EQ(there.ExitCode(), 0);
}

TEST(ChildCommandTest, WithoutACommandTheTerminalComesBack) {
  const OnTerminal there([] {
    try {
      ChildCommand child({"/no/such/file"});
    } catch (const Error&) {
    }
    return ::tcgetpgrp(0) == ::getpgrp() ? 0 : 100;
  });
  EXPECT_EQ(there.ExitCode(), 0);
}

TEST(ChildCommandTest, ControlCReachesTheCommandAlone) {
  const OnTerminal there([] {
    ChildCommand child({"sh", "-c", "trap 'exit 9' INT; echo ready; while :; do sleep 0.01; done"});
    const int code = child.Wait(kLong)->exit_code;
    return child.passed_on() == 0 ? code : 100;
  });
  char c = 0;
  while (c != 'y') ASSERT_EQ(::read(there.terminal, &c, 1), 1);
  ASSERT_EQ(::write(there.terminal, "\x03", 1), 1);
  EXPECT_EQ(there.ExitCode(), 9);
}

TEST(ChildCommandTest, ControlZStopsBoth) {
  const OnTerminal there([] {
    ChildCommand child({"sh", "-c", "echo ready; read line; exit 8"});
    return child.Wait(kLong)->exit_code;
  });
  char c = 0;
  while (c != 'y') ASSERT_EQ(::read(there.terminal, &c, 1), 1);
  ASSERT_EQ(::write(there.terminal, "\x1a", 1), 1);
  int status = 0;
  ASSERT_EQ(::waitpid(there.process, &status, WUNTRACED), there.process);
  ASSERT_TRUE(WIFSTOPPED(status));
  ::kill(there.process, SIGCONT);
  ASSERT_EQ(::write(there.terminal, "line\n", 5), 5);
  EXPECT_EQ(there.ExitCode(), 8);
}

}  // namespace
}  // namespace recpack::probe
