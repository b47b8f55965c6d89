// Forked child processes for tests.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

#include "tests/base/other_threads.h"

namespace recpack {

// Runs `check` in a forked child and returns its exit code: 0 if `check` returned true, 2 if it
// threw; -1 if the child was killed, as a hanging one eventually is. Other threads may be doing
// anything.
template <typename Check>
int ForkedAtOnce(Check check) {
  constexpr unsigned kMostSeconds = 120;
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kMostSeconds);
    try {
      ::_exit(check() ? 0 : 1);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "in the child: %s\n", error.what());
      ::_exit(2);
    }
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Like the above, but forks when the other threads are idle. Sanitizers do not make their own locks
// fork-safe: a thread that is starting, or frees memory, would leave them locked in the child
// forever.
template <typename Check>
int InChild(Check check) {
  AwaitRest();
  return ForkedAtOnce(check);
}

// Stops this process shortly afterwards for `seconds`; then a byte can be read from the result. Use
// it in a child process: a shell treats a stopped command of its own as suspended.
inline int StopInAMoment(unsigned seconds) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t stopped = ::getpid();
  if (::fork() == 0) {
    ::usleep(300'000);
    ::kill(stopped, SIGSTOP);
    ::sleep(seconds);
    ::kill(stopped, SIGCONT);
    ::_exit(::write(ends[1], "x", 1) == 1 ? 0 : 1);
  }
  ::close(ends[1]);
  return ends[0];
}

}  // namespace recpack
