#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/probe/causes/rules.h"

namespace recpack::probe {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr double kMb = 1e6;

Cause Named(double asked, double fetched, double refaults, const LoaderWork* work) {
  SystemRates rates;
  rates.processes = {
      {.process = 5, .read_bytes_per_second = fetched, .read_chars_per_second = asked}};
  rates.refaults_per_second = refaults;
  rates.devices = {{.name = "sda", .read_bytes_per_second = fetched, .busy_share = 0.9}};
  Cause cause{.bottleneck = Bottleneck::kStorage};
  DescribeStorage({.system = rates}, work, cause);
  return cause;
}

TEST(StoragePlace, DataThatWasReadBeforeIsMissedByThePageCache) {
  const LoaderWork second{.epochs = 1};
  const Cause cause = Named(100 * kMb, 80 * kMb, 0, &second);
  EXPECT_EQ(cause.bottleneck, Bottleneck::kPageCache);
  EXPECT_THAT(cause.evidence, Contains(HasSubstr("of 100.0 MB/s that were read, 80.0 MB/s")));
  EXPECT_THAT(cause.evidence, Contains(HasSubstr("this is epoch 2")));
  EXPECT_THAT(cause.evidence, Contains(HasSubstr("sda supplied 80.0 MB/s, busy 90.0 %")));
}

TEST(StoragePlace, DisksGiveMuchWhereMoreThanATenthComesFromThem) {
  for (const double fetched : {0.0, 9.0, 11.0}) {
    Evidence evidence;
    evidence.system = SystemRates{};
    evidence.system->processes = {
        {.process = 5, .read_bytes_per_second = fetched * kMb, .read_chars_per_second = 100 * kMb}};
    EXPECT_EQ(DisksGiveMuch(evidence, nullptr), fetched > 10) << fetched;
  }
  EXPECT_FALSE(DisksGiveMuch({}, nullptr));
}

TEST(StoragePlace, TheFirstEpochComesFromStorage) {
  const LoaderWork first{.epochs = 0};
  EXPECT_EQ(Named(100 * kMb, 100 * kMb, 0, &first).bottleneck, Bottleneck::kStorage);
}

TEST(StoragePlace, PagesThatComeBackWereThereBefore) {
  const Cause cause = Named(100 * kMb, 80 * kMb, 20'000, nullptr);
  EXPECT_EQ(cause.bottleneck, Bottleneck::kPageCache);
  EXPECT_THAT(cause.evidence, Contains(HasSubstr("in memory not long ago")));
  EXPECT_EQ(Named(100 * kMb, 80 * kMb, 1'000, nullptr).bottleneck, Bottleneck::kStorage);
}

TEST(StoragePlace, WhatNoDiskGaveIsANetworkOrALimit) {
  const LoaderWork second{.epochs = 3};
  const Cause cause = Named(100 * kMb, 0, 0, &second);
  EXPECT_EQ(cause.bottleneck, Bottleneck::kStorage);
  EXPECT_THAT(cause.evidence, Contains(HasSubstr("a network file system, or a limit")));
}

TEST(StoragePlace, MappedFilesAreReadByNoCall) {
  const LoaderWork mapped{.bytes_per_second = 100 * kMb, .epochs = 1};
  const Cause cause = Named(1000, 90 * kMb, 0, &mapped);
  EXPECT_EQ(cause.bottleneck, Bottleneck::kPageCache);
  EXPECT_THAT(cause.evidence, Contains(HasSubstr("of 100.0 MB/s")));
}

TEST(StoragePlace, WithoutSamplesNothingIsAdded) {
  Cause cause{.bottleneck = Bottleneck::kStorage};
  DescribeStorage({}, nullptr, cause);
  EXPECT_EQ(cause.bottleneck, Bottleneck::kStorage);
  EXPECT_TRUE(cause.evidence.empty());
}

}  // namespace
}  // namespace recpack::probe
