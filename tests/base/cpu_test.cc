#include "recpack/base/cpu.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <unordered_set>

namespace recpack {
namespace {

// The kernel's list is another source than the processor's own answers.
TEST(CpuTest, LevelIsThatOfTheKernelsFlags) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "names of flags are those of x86-64";
#else
  if (std::getenv("RECPACK_CPU") != nullptr) GTEST_SKIP() << "RECPACK_CPU lowers the level";
  std::unordered_set<std::string> flags;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("flags")) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    for (std::string word; words >> word;) flags.insert(word);
    break;
  }
  ASSERT_FALSE(flags.empty());
  const auto has = [&](const char* flag) { return flags.contains(flag); };
  CpuLevel expected = CpuLevel::kPortable;
  if (has("sse4_2")) expected = CpuLevel::kSse42;
  if (has("avx2") && has("f16c")) expected = CpuLevel::kAvx2;
  if (expected == CpuLevel::kAvx2 && has("avx512f") && has("avx512bw") && has("avx512vl")) {
    expected = CpuLevel::kAvx512;
  }
  EXPECT_EQ(ActiveCpu(), expected);
#endif
}

}  // namespace
}  // namespace recpack
