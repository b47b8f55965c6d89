#include "recpack/base/affinity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "recpack/base/cpu.h"
#include "recpack/base/error.h"

namespace recpack {
namespace {

using ::testing::ElementsAre;

constexpr size_t kWordBits = 8 * sizeof(unsigned long);

// Simulates a machine that may have `processors`.
AffinityReader MachineOf(size_t processors, const std::vector<size_t>& allowed) {
  return [=](std::span<unsigned long> mask) {
    if (mask.size() * kWordBits < processors) return EINVAL;
    std::ranges::fill(mask, 0UL);
    for (const size_t i : allowed) mask[i / kWordBits] |= 1UL << i % kWordBits;
    return 0;
  };
}

TEST(AffinityTest, ProcessorsBeyondTheFirst1024AreFound) {
  EXPECT_THAT(AllowedProcessors(MachineOf(64, {0, 3})), ElementsAre(0, 3));
  EXPECT_THAT(AllowedProcessors(MachineOf(1024, {1023})), ElementsAre(1023));
  EXPECT_THAT(AllowedProcessors(MachineOf(1025, {0, 1024})), ElementsAre(0, 1024));
  EXPECT_THAT(AllowedProcessors(MachineOf(8192, {0, 1500, 8191})), ElementsAre(0, 1500, 8191));
}

TEST(AffinityTest, WhatCannotBeToldIsAnErrorAndNoEndlessSearch) {
  for (const int code : {EINVAL, EPERM}) {
    try {
      AllowedProcessors([&](std::span<unsigned long>) { return code; });
      FAIL() << code;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kIo);
    }
  }
}

TEST(AffinityTest, OneProcessorOfEachCoreComesFirst) {
  const auto pairs = [](int processor) { return processor % 4; };  // 0 and 4 are one core
  EXPECT_THAT(CoresFirst({0, 1, 2, 3, 4, 5, 6, 7}, pairs), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(CoresFirst({0, 4, 5, 6}, pairs), ElementsAre(0, 5, 6, 4));
  const auto neighbours = [](int processor) { return processor / 2 * 2; };
  EXPECT_THAT(CoresFirst({0, 1, 2, 3, 4, 5}, neighbours), ElementsAre(0, 2, 4, 1, 3, 5));
  EXPECT_THAT(CoresFirst({3, 2, 1}, [](int) { return -1; }), ElementsAre(1, 2, 3));
  EXPECT_THAT(CoresFirst(AllowedProcessors()),
              ::testing::UnorderedElementsAreArray(AllowedProcessors()));
}

TEST(AffinityTest, ABoundThreadHasOneProcessor) {
  const std::vector<int> all = AllowedProcessors();
  ASSERT_FALSE(all.empty());
  EXPECT_LE(AvailableThreads(), static_cast<int>(all.size()));
  for (const int processor : {all.front(), all.back()}) {
    std::thread([&] {
      BindThread(processor);
      EXPECT_THAT(AllowedProcessors(), ElementsAre(processor));
      EXPECT_EQ(AvailableThreads(), 1);
    }).join();
  }
  EXPECT_EQ(AllowedProcessors(), all);
}

}  // namespace
}  // namespace recpack
