// Limits on this process's address space, for tests of failed allocations.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>

#include "tests/base/forked.h"
#include "tests/base/sanitizers.h"

namespace recpack {

// Limits further address space of this process to `bytes`. Use it in a child process, and only if
// CanLimitAddressSpace().
inline void LimitAddressSpace(uint64_t more_bytes) {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit limit = {};
  EXPECT_EQ(::getrlimit(RLIMIT_AS, &limit), 0);
  limit.rlim_cur = pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) + more_bytes;
  EXPECT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
}

// False with sanitizers, which reserve more than any such limit, and in user-mode emulators
// (qemu-user), which accept a limit but do not enforce it.
inline bool CanLimitAddressSpace() {
  if (kAddressSanitizer || kThreadSanitizer) return false;
  constexpr size_t kMore = size_t{1} << 30;
  return InChild([] {
           LimitAddressSpace(kMore / 2);
           return ::mmap(nullptr, kMore, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
                  MAP_FAILED;
         }) == 0;
}

// Limits this process to one more thread.
inline void LeaveRoomForOneThread() {
  constexpr size_t kStack = size_t{1} << 30;  // stack size of new threads
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStack);
  EXPECT_EQ(pthread_setattr_default_np(&attributes), 0);
  LimitAddressSpace(kStack + kStack / 2);
}

}  // namespace recpack
