#include "src/pack/plan/unfinished.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "recpack/base/error.h"
#include "src/pack/job/pack.h"
#include "src/pack/sources/tfrecord/tfrecord.h"
#include "tests/base/temporary_folder.h"
#include "tests/pack/fake_source.h"
#include "tests/pack/source_testing.h"

namespace recpack::pack {
namespace {

namespace fs = std::filesystem;

// The state before the manifest is written.
class UnfinishedTest : public ::testing::Test {
 protected:
  UnfinishedTest() {
    PackOptions options;
    options.out = out_;
    options.sync = false;
    options.plan.shards = 3;
    Pack(FakeSource({{"train", 90}, {"test", 30}}), options);
    fs::remove(out_ + "/manifest.json");
  }

  TemporaryFolder folder_;
  std::string out_ = folder_ / "out";
  std::string shard_ = out_ + "/train-00001-of-00003.tfrecord";
};

TEST_F(UnfinishedTest, CountsPlannedShardsThatAreMissing) {
  fs::remove(shard_);
  const auto unfinished = FindUnfinished(FindLayout(out_));
  ASSERT_TRUE(unfinished);
  EXPECT_EQ(unfinished->plan, out_ + "/.recpack/plan.json");
  EXPECT_EQ(unfinished->planned, 6u);
  EXPECT_EQ(unfinished->missing, 1u);
}

TEST_F(UnfinishedTest, NothingIsMissingWhereAllShardsAreThereOrOthersMadeThem) {
  EXPECT_FALSE(FindUnfinished(FindLayout(out_)));
  fs::remove(shard_);
  fs::remove_all(out_ + "/.recpack");
  EXPECT_FALSE(FindUnfinished(FindLayout(out_)));
}

// Without a plan, missing shards must still be detected.
TEST_F(UnfinishedTest, AShardThatIsMissingByTheNamesOrTheIndexIsAnError) {
  fs::remove_all(out_ + "/.recpack");
  fs::remove(out_ + "/manifest.json");
  EXPECT_EQ(FindFinishedLayout(out_).splits.size(), 2u);
  EXPECT_FALSE(FindMissingShards(FindLayout(out_)));
  fs::remove(shard_);
  const auto missing = FindMissingShards(FindLayout(out_));
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->missing, 1u);
  EXPECT_EQ(ErrorOf([&] { FindFinishedLayout(out_); }).kind(), ErrorKind::kNotFound);
  EXPECT_FALSE(FindMissingShards(FindLayout(out_ + "/*.tfrecord")));
}

TEST_F(UnfinishedTest, WhatIsNamedIsAllThatWasAskedFor) {
  fs::remove(shard_);
  EXPECT_FALSE(FindUnfinished(FindLayout(out_ + "/train-*")));
  EXPECT_EQ(FindFinishedLayout(out_ + "/train-*").splits[0].shards.size(), 2u);
}

TEST_F(UnfinishedTest, IsRefusedAsAllOfTheData) {
  fs::remove(shard_);
  for (const auto& open : {std::function<void()>([&] { FindFinishedLayout(out_); }),
                           std::function<void()>([&] { OpenTfrecord({.path = out_}); })}) {
    const Error error = ErrorOf(open);
    EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
    EXPECT_EQ(error.place().path, out_);
    EXPECT_NE(error.reason().find("1 of 6"), std::string::npos);
  }
}

TEST_F(UnfinishedTest, APlanThatCannotBeReadIsAnError) {
  WriteFileAtomically(PosixFiles(), out_ + "/.recpack/plan.json", AsBytes("{"), false);
  const Error error = ErrorOf([&] { FindUnfinished(FindLayout(out_)); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(error.place().path, out_ + "/.recpack/plan.json");
}

}  // namespace
}  // namespace recpack::pack
