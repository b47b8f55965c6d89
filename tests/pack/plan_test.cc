#include "src/pack/plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "recpack/base/error.h"
#include "src/pack/job/estimate.h"
#include "src/pack/job/pack_plan.h"
#include "tests/base/temporary_folder.h"
#include "tests/pack/fake_source.h"

namespace recpack::pack {
namespace {

// Items of given sizes in one or two splits; cannot be read.
class SizesOnly final : public Source {
 public:
  explicit SizesOnly(std::vector<std::vector<uint64_t>> sizes) : sizes_(std::move(sizes)) {
    for (size_t i = 0; i < sizes_.size(); ++i) {
      splits_.push_back({.name = i == 0 ? "train" : "test", .items = sizes_[i].size()});
    }
  }
  std::string kind() const override { return "sizes"; }
  const std::vector<SourceSplit>& splits() const override { return splits_; }
  const std::vector<std::string>& class_names() const override { return names_; }
  std::string ItemName(size_t, uint64_t item) const override { return std::to_string(item); }
  uint64_t ItemBytes(size_t split, uint64_t item) const override { return sizes_[split][item]; }
  bool sorted_by_class() const override { return false; }
  std::string Fingerprint() const override { return std::to_string(sizes_[0].size()); }
  std::unique_ptr<ItemReader> NewReader() const override { return nullptr; }

 private:
  std::vector<std::vector<uint64_t>> sizes_;
  std::vector<SourceSplit> splits_;
  std::vector<std::string> names_;
};

SizesOnly Equal(uint64_t items, uint64_t bytes) {
  return SizesOnly({std::vector<uint64_t>(items, bytes)});
}

// Checks that the shards of a split cover its positions once, in order.
void ExpectCovers(const Plan& plan) {
  std::vector<uint64_t> next(plan.splits.size());
  for (const auto& shard : plan.shards) {
    EXPECT_EQ(shard.begin, next[shard.split]);
    EXPECT_LT(shard.begin, shard.end);
    next[shard.split] = shard.end;
  }
  for (size_t i = 0; i < next.size(); ++i) EXPECT_EQ(next[i], plan.splits[i].items);
}

TEST(PlanTest, CutsByShardSizeIntoAboutEqualShards) {
  const Plan plan = MakePlan(Equal(1000, 984), {.shard_bytes = 300'000}, {});
  ExpectCovers(plan);
  ASSERT_EQ(plan.shards.size(), 4u);  // 1,000,000 bytes including frames
  for (const auto& shard : plan.shards) EXPECT_EQ(shard.bytes, 250'000u);
  EXPECT_EQ(plan.shards[1].file, "train-00001-of-00004.tfrecord");
}

TEST(PlanTest, TakesAnExactNumberOfShardsButNeverEmptyOnes) {
  EXPECT_EQ(MakePlan(Equal(10, 5), {.shards = 3}, {}).shards.size(), 3u);
  const Plan more = MakePlan(Equal(2, 5), {.shards = 3}, {});
  ExpectCovers(more);
  EXPECT_EQ(more.shards.size(), 2u);
}

TEST(PlanTest, CoversItemsOfAnySizes) {
  std::vector<uint64_t> sizes;
  for (uint64_t i = 0; i < 500; ++i) sizes.push_back(i % 7 == 0 ? 100'000 : i);
  for (uint64_t shards = 1; shards < 40; ++shards) {
    ExpectCovers(
        MakePlan(SizesOnly({sizes, {1, 2, 3}}), {.shards = shards, .shuffle_seed = shards}, {}));
  }
}

TEST(PlanTest, AnItemAboveTheShardSizeGetsAShard) {
  const Plan plan = MakePlan(SizesOnly({{10, 5000, 10}}), {.shard_bytes = 1000}, {});
  ExpectCovers(plan);
}

TEST(PlanTest, LimitTakesTheFirstOfEachSplitInPackingOrder) {
  const SizesOnly source({std::vector<uint64_t>(50, 1), std::vector<uint64_t>(3, 1)});
  const Plan all = MakePlan(source, {.shuffle_seed = 1}, {});
  const Plan few = MakePlan(source, {.shuffle_seed = 1, .limit = 5}, {});
  EXPECT_EQ(few.splits[0].items, 5u);
  EXPECT_EQ(few.splits[1].items, 3u);
  for (uint64_t i = 0; i < 5; ++i) EXPECT_EQ(PackingOrder(all, 0)(i), PackingOrder(few, 0)(i));
}

TEST(PlanTest, SurvivesItsJson) {
  const Plan plan = MakePlan(Equal(100, 9), {.shards = 4, .shuffle_seed = 3}, {{"from", "x"}});
  const Plan back = PlanFromJson(PlanToJson(plan), "plan.json");
  EXPECT_EQ(PlanToJson(back), PlanToJson(plan));
  EXPECT_EQ(DescribeDifference(back, plan), "");
}

TEST(PlanTest, SurvivesItsFile) {
  const TemporaryFolder folder;
  const SizesOnly source({std::vector<uint64_t>(3000, 9), std::vector<uint64_t>(5, 1)});
  const Plan plan = MakePlan(source, {.shards = 3000, .append = 2}, {});
  WritePlan(PosixFiles(), folder / "plan.json", plan, false);
  const Plan back = ReadPlan(PosixFiles(), folder / "plan.json");
  EXPECT_EQ(DescribeDifference(back, plan), "");
  EXPECT_EQ(PlanToJson(back), PlanToJson(plan));
}

TEST(PlanTest, AnyDifferenceIsSaid) {
  const Plan plan = MakePlan(Equal(100, 9), {.shards = 4}, {});
  Plan other = plan;
  other.shards = {};
  for (PlannedShard shard : plan.shards) {
    shard.bytes += shard.begin == 0;
    other.shards.push_back(shard);
  }
  EXPECT_EQ(DescribeDifference(plan, other), "the plan was made by another version of recpack");
}

TEST(PlanTest, SaysWhatDiffers) {
  const Plan plan = MakePlan(Equal(100, 9), {.shards = 4}, {{"compression", "none"}});
  const Plan other = MakePlan(Equal(100, 9), {.shards = 4}, {{"compression", "gzip"}});
  const Plan grown = MakePlan(Equal(101, 9), {.shards = 4}, {{"compression", "none"}});
  EXPECT_EQ(DescribeDifference(plan, other), "compression was 'none' and is now 'gzip'");
  EXPECT_EQ(DescribeDifference(plan, grown),
            "the names or sizes of the source's items changed (100 items then, 101 now)");
}

TEST(PlanTest, RefusesNoItemsAndNoSize) {
  EXPECT_THROW(MakePlan(Equal(0, 0), {}, {}), Error);
  EXPECT_THROW(MakePlan(Equal(1, 1), {.shard_bytes = 0}, {}), Error);
}

TEST(PlanTest, RefusesDamagedJson) {
  const std::string text = PlanToJson(MakePlan(Equal(10, 9), {}, {}));
  for (size_t cut = 0; cut + 2 < text.size(); cut += 3) {
    EXPECT_THROW(PlanFromJson(text.substr(0, cut), "plan.json"), Error);
  }
  std::string far = text;
  far.replace(far.find("\"end\": 10"), 9, "\"end\": 99");
  EXPECT_THROW(PlanFromJson(far, "plan.json"), Error);
  std::string escaping = text;
  escaping.replace(escaping.find("train-"), 6, "../in-");
  EXPECT_THROW(PlanFromJson(escaping, "plan.json"), Error);
}

TEST(EstimateTest, TriesTheCompressionToo) {
  const FakeSource source({{"train", 2000}, {"test", 10}});
  PackOptions options;
  const Plan plan = PlanPack(source, options);
  const auto ratio = [&](Compression compression) {
    options.writer.compression = compression;
    const PackEstimate estimate = EstimatePack(source, plan, options, 1e9);
    EXPECT_EQ(estimate.tried, 1010u);  // 1,000 places in each split
    EXPECT_GT(estimate.seconds, 0);
    return estimate.bytes_ratio;
  };
  const double plain = ratio(Compression::kNone);
  EXPECT_GT(plain, 0.5);
  EXPECT_LT(plain, 2);
  EXPECT_LT(ratio(Compression::kGzip), plain / 2);  // the generated texts are mostly dots
}

TEST(EstimateTest, PassesBadItemsOver) {
  FakeSource source({{"train", 100}});
  source.before_read = [](size_t, uint64_t) { throw Error(ErrorKind::kCorrupt, "broken"); };
  const PackOptions options;
  EXPECT_EQ(EstimatePack(source, PlanPack(source, options), options).bytes_ratio, 0);
}

}  // namespace
}  // namespace recpack::pack
