// Finish paths that this machine can run.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "recpack/base/cpu.h"

namespace recpack {

inline std::vector<CpuLevel> FinishLevels() {
  std::vector<CpuLevel> levels = {CpuLevel::kPortable, CpuLevel::kAvx2, CpuLevel::kAvx512};
  if (ActiveCpu() == CpuLevel::kNeon) return {CpuLevel::kPortable, CpuLevel::kNeon};
  std::erase_if(levels, [](CpuLevel level) { return level > ActiveCpu(); });
  return levels;
}

inline std::string LevelName(const testing::TestParamInfo<CpuLevel>& info) {
  constexpr const char* kNames[] = {"Portable", "Sse42", "Avx2", "Avx512", "Neon"};
  return kNames[static_cast<size_t>(info.param)];
}

}  // namespace recpack
