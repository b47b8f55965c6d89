#include "recpack/record/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "recpack/base/error.h"
#include "recpack/record/writer.h"
#include "tests/base/temporary_folder.h"

namespace recpack {
namespace {

class ReadShardsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (uint64_t shard = 0; shard < 5; ++shard) {
      paths_.push_back(folder_ / std::to_string(shard));
      RecordWriter writer(PosixFiles().Create(paths_.back()), {});
      for (uint64_t i = 0; i < 100 * shard; ++i) writer.Write(AsBytes(std::to_string(i)));
      writer.Finish(false);
    }
  }

  TemporaryFolder folder_;
  std::vector<std::string> paths_;
};

TEST_F(ReadShardsTest, ReadsEveryRecordOnceAndEachShardInOrder) {
  for (const int threads : {1, 2, 8}) {
    std::vector<uint64_t> next(paths_.size());
    std::atomic<uint64_t> records = 0;
    ReadShards(paths_, threads, {}, [&](const ShardRecord& at) {
      EXPECT_LT(at.worker, static_cast<size_t>(threads));
      EXPECT_EQ(at.record.ordinal, next[at.shard]);
      EXPECT_EQ(AsText(at.record.payload), std::to_string(next[at.shard]++));
      ++records;
    });
    EXPECT_EQ(records, 1000u);
  }
}

TEST_F(ReadShardsTest, AnErrorOnAnyThreadReachesTheCaller) {
  EXPECT_THROW(ReadShards(paths_, 2, {},
                          [](const ShardRecord& at) {
                            if (at.shard == 3) throw Error(ErrorKind::kInvalidArgument, "enough");
                          }),
               Error);
  paths_.push_back(folder_ / "missing");
  EXPECT_THROW(ReadShards(paths_, 2, {}, [](const ShardRecord&) {}), Error);
}

}  // namespace
}  // namespace recpack
