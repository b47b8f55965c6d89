#include "src/probe/live/loader_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "src/loader/batch/stats_page.h"

namespace recpack::probe {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

std::vector<ProcessSample> This() { return {{.process = ::getpid(), .start_ticks = 5}}; }

TEST(LoaderSampler, AProcessWithALoaderIsReadEachTime) {
  const StatsPage page({.workers = 1, .slots = 2, .batch_size = 3, .batch_bytes = 4});
  LoaderSampler sampler;
  for (int i = 0; i < 40; ++i) sampler.Sample(This());
  EXPECT_EQ(sampler.looks(), 40u);
  ASSERT_THAT(sampler.All(), SizeIs(40));
  EXPECT_EQ(sampler.All()[0].stats.batch_size, 3u);
}

TEST(LoaderSampler, AProcessWithoutOneIsLookedAtLessAndLess) {
  LoaderSampler sampler;
  for (int i = 0; i < 110; ++i) sampler.Sample(This());
  EXPECT_EQ(sampler.looks(), 20u);
  EXPECT_THAT(sampler.All(), IsEmpty());
  const StatsPage page({.workers = 1, .slots = 2, .batch_size = 3, .batch_bytes = 4});
  for (uint32_t i = 0; i < LoaderSampler::kPause; ++i) sampler.Sample(This());
  EXPECT_GE(sampler.All().size(), 1u);
}

TEST(LoaderSampler, ANumberThatIsUsedAgainIsAnotherProcess) {
  LoaderSampler sampler;
  for (int i = 0; i < 30; ++i) sampler.Sample(This());
  const uint64_t before = sampler.looks();
  auto other = This();
  other[0].start_ticks = 6;
  sampler.Sample(other);
  EXPECT_EQ(sampler.looks(), before + 1);
}

}  // namespace
}  // namespace recpack::probe
