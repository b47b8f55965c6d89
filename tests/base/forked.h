// Children of this process that look at what they have of it.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

#include "tests/base/other_threads.h"

namespace recpack {

// Exit code of a child that is forked whatever other threads do: 0 where `check` holds there, 2
// where it threw; -1: it was killed, as one that hangs is in the end.
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

// The same, once the other threads are at rest. Sanitizers do not make their own locks safe for
// forks: a thread that is starting, or frees memory, would leave them locked in the child for ever.
template <typename Check>
int InChild(Check check) {
  AwaitRest();
  return ForkedAtOnce(check);
}

// Stops this process in a moment for so many seconds; a byte can be read from the result then. Best
// in a child: a shell takes its own command that stops for one that waits.
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
