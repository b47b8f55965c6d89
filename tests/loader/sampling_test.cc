// Sampling from data sets, views and mixtures: epochs, ranks, resuming.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "recpack/base/random.h"
#include "recpack/loader/loader.h"
#include "src/loader/order/sampler.h"
#include "tests/base/error_of.h"
#include "tests/loader/small_split.h"

namespace recpack {
namespace {

using testing::HasSubstr;

bool SmallWords(const ExampleView& example, uint64_t) { return example.Find("words")->size() < 3; }

// Named sources for the tests.
struct Kinds {
  SmallSplit first{101};
  SmallSplit second{37, 2};
  Dataset large = Dataset::Open(first.folder());
  Dataset little = Dataset::Open(second.folder());

  Mixture Make(const std::string& kind) const {
    if (kind == "whole") return large;
    if (kind == "subset") return View::Subset(large, {90, 4, 4, 71, 20, 21, 22, 23, 24, 8, 100});
    if (kind == "filter") return View::Filter(large, SmallWords);
    if (kind == "hash") return View::HashSplit(large, {.end = 0.7, .key = "file"});
    if (kind == "balanced") return View::ClassBalanced(large, "class");
    if (kind == "weighted") {
      std::vector<double> weights;
      for (uint64_t id = 0; id < large.records(); ++id)
        weights.push_back(static_cast<double>(id % 7));
      return View::Weighted(large, weights, 97);
    }
    return Mixture({{large, 3},
                    {View::ClassBalanced(little, "class"), 1},
                    {View::Subset(little, {1, 2, 3}), 1}},
                   {.period = 7});
  }
};

constexpr const char* kKinds[] = {"whole",    "subset",   "filter", "hash",
                                  "balanced", "weighted", "mixture"};
constexpr const char* kOrders[] = {"sequential", "global", "window:4:8:2"};

LoaderOptions SamplingOptions(const char* order, LastBatch last, uint32_t batch = 5) {
  return {.fields = SmallFields(),
          .batch_size = batch,
          .order = ParseOrder(order),
          .seed = 23,
          .last_batch = last,
          .threads = 2};
}

// Computes samples from the plan, without a loader.
std::vector<ViewAndId> Planned(const Mixture& samples, const LoaderOptions& options,
                               uint64_t epoch) {
  Sampler sampler(samples, ResolveOrder(options.order, samples), options.seed);
  std::vector<ViewAndId> all;
  for (uint64_t p = 0; p < samples.samples(); ++p) {
    const SampledRecord record = sampler.At(epoch, p);
    all.emplace_back(record.view, record.id);
  }
  return all;
}

class SamplingKind : public testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  Kinds kinds_;
  Mixture samples_ = kinds_.Make(std::get<0>(GetParam()));
  const char* order_ = std::get<1>(GetParam());
};

TEST_P(SamplingKind, TheUnionOfRanksIsTheEpochInEqualSteps) {
  for (const LastBatch last : {LastBatch::kPad, LastBatch::kKeep, LastBatch::kDrop}) {
    const LoaderOptions options = SamplingOptions(order_, last, 2);
    const auto planned = Planned(samples_, options, 0);
    for (uint32_t world = 1; world <= 4; ++world) {
      auto expected = planned;
      if (last == LastBatch::kDrop) expected.resize(expected.size() / (2 * world) * (2 * world));
      EXPECT_EQ(EpochOfRanks(samples_, options, world), expected)
          << world << " " << static_cast<int>(last);
    }
  }
}

TEST_P(SamplingKind, ResumesAnywhereBitForBit) {
  LoaderOptions options = SamplingOptions(order_, LastBatch::kKeep, 7);
  Loader loader(samples_, options);
  const size_t steps = 2 * loader.steps_per_epoch() + 1;
  const auto whole = Take(loader, steps + 2);
  KeyedRandom random(1, 0, 0);
  for (int i = 0; i < 12; ++i) {
    const size_t cut = random.NextBelow(static_cast<uint32_t>(steps));
    LoaderOptions later = options;
    later.seed = 0;  // the token's seed applies
    later.order = {};
    later.threads = 1 + i % 4;
    later.resume = whole[cut].token;
    Loader rest(samples_, later);
    const auto taken = Take(rest, 2);
    EXPECT_EQ(taken[0], whole[cut + 1]) << cut;
    EXPECT_EQ(taken[1], whole[cut + 2]) << cut;
  }
}

TEST_P(SamplingKind, OtherRanksAndBatchSizesGoOnInTheSameOrder) {
  LoaderOptions options = SamplingOptions(order_, LastBatch::kKeep, 1);
  const auto planned = Planned(samples_, options, 0);
  std::string token;
  auto ids = TakeRanks(samples_, options, 4, 2, &token);
  options.resume = token;
  options.batch_size = 3;
  const auto rest = TakeRanks(samples_, options, 3, (planned.size() - 8 + 8) / 9);
  ids.insert(ids.end(), rest.begin(), rest.end());
  EXPECT_EQ(ids, planned);
}

TEST_P(SamplingKind, EpochsDiffer) {
  const LoaderOptions options = SamplingOptions(order_, LastBatch::kKeep);
  const bool stays = std::string(order_) == "sequential" && samples_.views().size() == 1 &&
                     !samples_.views().front().drawn();
  EXPECT_EQ(Planned(samples_, options, 0) == Planned(samples_, options, 1), stays);
}

std::string NameOf(const testing::TestParamInfo<std::tuple<const char*, const char*>>& info) {
  const std::string order = std::get<1>(info.param);
  return std::string(std::get<0>(info.param)) + "_" + order.substr(0, order.find(':'));
}

INSTANTIATE_TEST_SUITE_P(Sampling, SamplingKind,
                         testing::Combine(testing::ValuesIn(kKinds), testing::ValuesIn(kOrders)),
                         NameOf);

class SamplingOrder : public testing::TestWithParam<const char*> {};

TEST_P(SamplingOrder, AnEpochOfAViewHasItsRecords) {
  const Kinds kinds;
  for (const char* kind : {"subset", "filter", "hash"}) {
    const Mixture samples = kinds.Make(kind);
    std::vector<uint64_t> expected, ids;
    for (uint64_t i = 0; i < samples.samples(); ++i) {
      expected.push_back(samples.views().front().Record(i, 0, 0));
    }
    for (const auto& sample : Planned(samples, SamplingOptions(GetParam(), LastBatch::kKeep), 3)) {
      ids.push_back(sample.second);
    }
    std::ranges::sort(expected);
    std::ranges::sort(ids);
    EXPECT_EQ(ids, expected) << kind;
  }
}

TEST_P(SamplingOrder, ABalancedEpochHasEachClassEquallyOften) {
  const Kinds kinds;
  std::map<int64_t, int> classes;
  for (const auto& [view, id] :
       Planned(kinds.Make("balanced"), SamplingOptions(GetParam(), LastBatch::kKeep), 3)) {
    ++classes[SmallClass(id)];
  }
  EXPECT_EQ(classes, (std::map<int64_t, int>{{0, 34}, {1, 34}, {5, 34}}));
}

INSTANTIATE_TEST_SUITE_P(Sampling, SamplingOrder, testing::ValuesIn(kOrders));

TEST(Sampling, ATokenOfAnotherViewIsRefused) {
  const Kinds kinds;
  LoaderOptions options = SamplingOptions("global", LastBatch::kKeep);
  Loader loader(View::Subset(kinds.large, {1, 2, 3, 4, 5, 6, 7}), options);
  loader.Next();
  options.resume = loader.Token();
  const auto reason = [&](const Mixture& samples) {
    return std::string(ErrorOf([&] { Loader(samples, options); }).what());
  };
  EXPECT_THAT(reason(View::Subset(kinds.large, {1, 2, 3, 4, 5, 6, 8})), HasSubstr("other records"));
  EXPECT_THAT(reason(kinds.large), HasSubstr("and this is all of them"));
  EXPECT_THAT(reason(View::Subset(kinds.little, {1})), HasSubstr("sizes or record counts differ"));
}

// Today's tokens must give the same samples in ten years.
TEST(Sampling, IsFrozen) {
  const Kinds kinds;
  const auto digest = [&](const char* kind) {
    Sha256 hash;
    for (const auto& [view, id] :
         Planned(kinds.Make(kind), SamplingOptions("window:4:8:2", LastBatch::kKeep), 5)) {
      uint8_t bytes[8];
      StoreLittleEndian(bytes, uint64_t{view} << 32 | id);
      hash.Update(bytes);
    }
    return Hex(hash.Finish()).substr(0, 16);
  };
  EXPECT_EQ(digest("balanced"), "e30e10c63170c8d7");
  EXPECT_EQ(digest("weighted"), "9d5f253d9b86d8a4");
  EXPECT_EQ(digest("mixture"), "0ccbe92a765c0b1a");
}

TEST(Sampling, SubstitutesComeFromTheSameWindowOrClass) {
  const Kinds kinds;
  const std::map<std::string, Mixture> all = {{"whole", kinds.Make("whole")},
                                              {"balanced", kinds.Make("balanced")},
                                              {"mixture", kinds.Make("mixture")}};
  for (const uint64_t id : {3, 50, 51, 77}) kinds.first.Damage(id);
  for (const auto& [kind, samples] : all) {
    LoaderOptions options = SamplingOptions("window:4:3:2", LastBatch::kKeep);
    options.on_bad_record = OnBadRecord::kSubstitute;
    options.max_bad_share = 1;
    Loader loader(samples, options);
    const auto taken = Take(loader, 2 * loader.steps_per_epoch());
    EXPECT_GE(loader.substitutions().size(), 4u) << kind;
    for (const Substitution& each : loader.substitutions()) {
      EXPECT_TRUE(each.bad == 3 || each.bad == 50 || each.bad == 51 || each.bad == 77);
      EXPECT_EQ(each.view, 0u);
      EXPECT_EQ(each.place.path, kinds.first.shard(each.bad < 33 ? 0 : each.bad < 67 ? 1 : 2));
      if (samples.views().front().balanced()) {
        EXPECT_EQ(SmallClass(each.taken), SmallClass(each.bad));
      } else if (samples.views().size() == 1) {
        const auto planned = Planned(samples, options, each.epoch);
        const auto window = [&](uint64_t id) {
          const int64_t at = std::ranges::find(planned, ViewAndId(0, id)) - planned.begin();
          return at < 96 ? at % 3 * 100 + at / 3 / 8 : -1;
        };
        EXPECT_EQ(window(each.taken), window(each.bad));
      }
    }
  }
}

TEST(Sampling, AutoOfABalancedViewIsGlobal) {
  const Kinds kinds;
  EXPECT_EQ(ResolveOrder({}, kinds.Make("balanced")).kind, OrderKind::kGlobal);
}

}  // namespace
}  // namespace recpack
