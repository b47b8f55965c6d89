// Little memory, as far as addresses go.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace recpack {

// From now on this process gets no more than that beyond what it has: best in a child. Sanitizers
// have more than any such limit.
inline void LimitAddressSpace(uint64_t more_bytes) {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit limit = {};
  EXPECT_EQ(::getrlimit(RLIMIT_AS, &limit), 0);
  limit.rlim_cur = pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) + more_bytes;
  EXPECT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
}

}  // namespace recpack
