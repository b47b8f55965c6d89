// Children of this process that look at what they have of it.
#pragma once

#include <gtest/gtest.h>
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

}  // namespace recpack
