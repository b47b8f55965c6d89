#include "recpack/loader/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "recpack/base/error.h"
#include "tests/base/error_of.h"
#include "tests/loader/small_split.h"

namespace recpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<uint64_t> IdsOf(const View& view, uint64_t seed = 0, uint64_t epoch = 0) {
  std::vector<uint64_t> ids;
  for (uint64_t i = 0; i < view.samples(); ++i) ids.push_back(view.Record(i, seed, epoch));
  return ids;
}

bool OddLabel(const ExampleView& example, uint64_t id) {
  const int64_t label = example.Find("label")->int64_values()[0];
  EXPECT_EQ(static_cast<uint64_t>(label), id);
  return label % 2 == 1;
}

TEST(View, SubsetsKeepTheListsOrder) {
  const SmallSplit split(20);
  const Dataset dataset = Dataset::Open(split.folder());
  EXPECT_THAT(IdsOf(View::Subset(dataset, {7, 3, 19, 3})), ElementsAre(7, 3, 19, 3));
  EXPECT_THAT(ErrorOf([&] {
                View::Subset(dataset, {1, 20});
              }).what(),
              HasSubstr("no record 20 for a subset: the split has 20"));
  EXPECT_THAT(ErrorOf([&] { View::Subset(dataset, {}); }).what(), HasSubstr("no records"));
}

TEST(View, FiltersByWhatTheRecordHolds) {
  const SmallSplit split(1000);
  const Dataset dataset = Dataset::Open(split.folder());
  std::vector<uint64_t> odd;
  for (uint64_t id = 1; id < 1000; id += 2) odd.push_back(id);
  for (int threads : {1, 4}) {
    const View view = View::Filter(dataset, OddLabel, {.threads = threads});
    EXPECT_EQ(IdsOf(view), odd);
    EXPECT_EQ(view.bytes(), dataset.bytes() / 2);
  }
  const View some = View::Subset(dataset, {9, 4, 1});
  EXPECT_THAT(IdsOf(View::Filter(some, OddLabel)), ElementsAre(9, 1));
}

TEST(View, AFilterSaysWhereItFailed) {
  const SmallSplit split(60);
  split.Damage(25);
  const Dataset dataset = Dataset::Open(split.folder());
  const Error corrupt = ErrorOf([&] { View::Filter(dataset, OddLabel); });
  EXPECT_EQ(corrupt.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(corrupt.place().path, split.shard(1));
  EXPECT_EQ(View::Filter(dataset, OddLabel, {.leave_out_corrupt = true}).samples(), 29u);

  const auto fails = [](const ExampleView&, uint64_t id) -> bool {
    if (id == 3) throw std::runtime_error("I do not like it");
    return true;
  };
  const Error own = ErrorOf([&] { View::Filter(dataset, fails, {.threads = 1}); });
  EXPECT_THAT(own.what(), HasSubstr("I do not like it"));
  EXPECT_EQ(own.place().ordinal, 3u);
}

TEST(View, PartsOfAHashSplitAreTheWhole) {
  const SmallSplit split(1000);
  const Dataset dataset = Dataset::Open(split.folder());
  for (const char* key : {"", "file", "label"}) {
    std::vector<uint64_t> all;
    for (int part = 0; part < 3; ++part) {
      const View view =
          View::HashSplit(dataset, {.begin = part / 3.0, .end = (part + 1) / 3.0, .key = key});
      EXPECT_NEAR(static_cast<double>(view.samples()), 333, 75) << key;  // 5 standard deviations
      const auto ids = IdsOf(view);
      EXPECT_TRUE(std::ranges::is_sorted(ids));
      all.insert(all.end(), ids.begin(), ids.end());
    }
    std::ranges::sort(all);
    std::vector<uint64_t> expected(1000);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(all, expected) << key;
  }
}

TEST(View, AHashSplitIsStableWhenRecordsAreAdded) {
  const SmallSplit small(500);
  const SmallSplit large(800);
  for (const char* key : {"", "file"}) {
    const HashRange range{.begin = 0.2, .end = 0.5, .seed = 4, .key = key};
    const auto before = IdsOf(View::HashSplit(Dataset::Open(small.folder()), range));
    auto after = IdsOf(View::HashSplit(Dataset::Open(large.folder()), range));
    std::erase_if(after, [](uint64_t id) { return id >= 500; });
    EXPECT_EQ(after, before) << key;
    HashRange other = range;
    other.seed = 5;
    EXPECT_NE(IdsOf(View::HashSplit(Dataset::Open(small.folder()), other)), before);
  }
}

TEST(View, HashSplitsAreFrozen) {
  const SmallSplit split(60);
  const Dataset dataset = Dataset::Open(split.folder());
  EXPECT_THAT(IdsOf(View::HashSplit(dataset, {.end = 0.1})),
              ElementsAre(0, 9, 12, 18, 39, 40, 42, 51, 52, 58));
  EXPECT_THAT(IdsOf(View::HashSplit(dataset, {.end = 0.1, .key = "file"})),
              ElementsAre(18, 21, 26, 29, 37));
}

TEST(View, AHashSplitRefusesWhatMakesNoSense) {
  const SmallSplit split(60);
  const Dataset dataset = Dataset::Open(split.folder());
  const auto reason = [&](const HashRange& range) {
    return std::string(ErrorOf([&] { View::HashSplit(dataset, range); }).what());
  };
  EXPECT_THAT(reason({.begin = 0.5, .end = 0.5}), HasSubstr("not a part of [0, 1)"));
  EXPECT_THAT(reason({.begin = -1}), HasSubstr("not a part of [0, 1)"));
  EXPECT_THAT(reason({.end = 1.1}), HasSubstr("not a part of [0, 1)"));
  EXPECT_THAT(reason({.end = 1e-30}), HasSubstr("no records")) << "and not all of them";
  EXPECT_THAT(reason({.key = "words"}), HasSubstr("'words' has 0 values"));
  EXPECT_THAT(reason({.key = "name"}), HasSubstr("no feature 'name'"));
}

TEST(View, ClassesComeEquallyOften) {
  const SmallSplit split(70);  // 40 of class 0, 20 of class 1, 10 of class 5
  const View view = View::ClassBalanced(Dataset::Open(split.folder()), "class");
  EXPECT_EQ(view.classes(), 3u);
  EXPECT_EQ(view.samples(), 72u);
  std::map<int64_t, uint64_t> classes;
  std::map<uint64_t, uint64_t> records;
  for (uint64_t epoch = 0; epoch < 5; ++epoch) {  // 120 per class
    const auto ids = IdsOf(view, 8, epoch);
    std::map<int64_t, uint64_t> in_epoch;
    for (const uint64_t id : ids) {
      ++in_epoch[SmallClass(id)];
      ++records[id];
    }
    EXPECT_EQ(in_epoch, (std::map<int64_t, uint64_t>{{0, 24}, {1, 24}, {5, 24}}));
  }
  EXPECT_EQ(records.size(), 70u);
  for (const auto& [id, count] : records) {
    const int64_t own = SmallClass(id);
    EXPECT_EQ(count, own == 0 ? 3u : own == 1 ? 6u : 12u) << id;
  }
  // Each pass has another order.
  std::vector<uint64_t> rare;
  for (const uint64_t id : IdsOf(view, 8, 0)) {
    if (SmallClass(id) == 5) rare.push_back(id);
  }
  const std::vector<uint64_t> first(rare.begin(), rare.begin() + 10);
  const std::vector<uint64_t> second(rare.begin() + 10, rare.begin() + 20);
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 10u);
  EXPECT_EQ(std::set(second.begin(), second.end()).size(), 10u);
  EXPECT_NE(first, second);
  EXPECT_NE(IdsOf(view, 8, 0), IdsOf(view, 9, 0));
}

TEST(View, ABalancedEpochHasTheLengthAskedFor) {
  const SmallSplit split(70);
  const Dataset dataset = Dataset::Open(split.folder());
  EXPECT_EQ(View::ClassBalanced(dataset, "class", 300).samples(), 300u);
  EXPECT_EQ(View::ClassBalanced(dataset, "class", 1).samples(), 3u);
  const View balanced = View::ClassBalanced(View::Filter(dataset, OddLabel), "class");
  for (const uint64_t id : IdsOf(balanced)) EXPECT_EQ(id % 2, 1u);
  EXPECT_THAT(ErrorOf([&] { View::ClassBalanced(dataset, "text"); }).what(),
              HasSubstr("a class is one int64"));
  EXPECT_THAT(ErrorOf([&] { View::Filter(balanced, OddLabel); }).what(),
              HasSubstr("cannot be divided"));
}

TEST(View, ASubstituteIsOfTheSameClass) {
  const SmallSplit split(70);
  const View view = View::ClassBalanced(Dataset::Open(split.folder()), "class");
  for (uint64_t number = 0; number < view.samples(); ++number) {
    const uint64_t record = view.Record(number, 1, 0);
    for (uint64_t draw = 0; draw < 41; ++draw) {
      const uint64_t other = view.AnotherOfClass(number, record, draw);
      EXPECT_NE(other, record);
      EXPECT_EQ(SmallClass(other), SmallClass(record));
    }
  }
}

TEST(View, SubsetsOfAViewCountItsSamples) {
  const SmallSplit split(20);
  const View odd = View::Filter(Dataset::Open(split.folder()), OddLabel);
  EXPECT_THAT(IdsOf(View::Subset(odd, {9, 0, 0})), ElementsAre(19, 1, 1));
  EXPECT_THAT(ErrorOf([&] { View::Subset(odd, {10}); }).what(),
              HasSubstr("no sample 10 for a subset: the view has 10"));
}

// Record i of 60 has weight i; those below 3 have none.
std::vector<double> Weights() {
  std::vector<double> weights(60);
  std::iota(weights.begin(), weights.end(), 0.0);
  std::fill_n(weights.begin(), 3, 0.0);
  return weights;
}

TEST(View, WeightedRecordsComeByTheirShares) {
  const SmallSplit split(60);
  const Dataset dataset = Dataset::Open(split.folder());
  const auto weights = Weights();
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  constexpr uint64_t kSamples = 500;
  constexpr int kEpochs = 200;
  const View view = View::Weighted(dataset, weights, kSamples);
  EXPECT_EQ(view.samples(), kSamples);
  std::map<uint64_t, double> all;
  std::set<std::vector<uint64_t>> epochs;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    const auto ids = IdsOf(view, 7, static_cast<uint64_t>(epoch));
    EXPECT_TRUE(std::ranges::is_sorted(ids));  // so that windows are near each other
    epochs.insert(ids);
    std::map<uint64_t, double> counts;
    for (const uint64_t id : ids) ++counts[id];
    for (uint64_t id = 0; id < weights.size(); ++id) {
      const double share = weights[id] / sum * kSamples;
      EXPECT_LT(std::abs(counts[id] - share), 2) << id;
      if (weights[id] == 0) {
        EXPECT_EQ(counts[id], 0);
      }
      all[id] += counts[id] / kEpochs;
    }
  }
  EXPECT_EQ(epochs.size(), size_t{kEpochs});
  for (uint64_t id = 0; id < weights.size(); ++id) {
    // Six standard deviations: that of a count is sqrt(0.5) at most, of its two partial strata.
    EXPECT_NEAR(all[id], weights[id] / sum * kSamples, 6 * std::sqrt(0.5 / kEpochs)) << id;
  }
}

TEST(View, WeightsAreFrozen) {
  const SmallSplit split(60);
  const auto ids = IdsOf(View::Weighted(Dataset::Open(split.folder()), Weights(), 8), 7, 3);
  EXPECT_THAT(ids, ElementsAre(5, 22, 32, 41, 46, 48, 55, 59));
}

TEST(View, RefusesWeightsThatMakeNoSense) {
  const SmallSplit split(4);
  const Dataset dataset = Dataset::Open(split.folder());
  const auto reason = [&](std::vector<double> weights) {
    return std::string(ErrorOf([&] { View::Weighted(dataset, weights); }).what());
  };
  EXPECT_THAT(reason({1, 2, 3}), HasSubstr("3 weights for 4 samples"));
  EXPECT_THAT(reason({1, -2, 3, 4}), HasSubstr("weight -2 of sample 1 is invalid"));
  EXPECT_THAT(reason({1, 2, std::nan(""), 4}), HasSubstr("of sample 2 is invalid"));
  EXPECT_THAT(reason({0, 0, 0, 0}), HasSubstr("add up to 0"));
  const double most = std::numeric_limits<double>::max();
  EXPECT_THAT(reason({most, most, 0, 0}), HasSubstr("add up to inf"));
  const View weighted = View::Weighted(dataset, {1, 1, 1, 1});
  EXPECT_THAT(ErrorOf([&] { View::Filter(weighted, OddLabel); }).what(),
              HasSubstr("a weighted view cannot be divided"));
}

TEST(View, TheLabelIsFoundByEitherName) {
  const SmallSplit split(30);
  EXPECT_EQ(View::ClassBalanced(Dataset::Open(split.folder()), "image/class/label").classes(), 30U);
}

TEST(View, DigestsTellViewsApart) {
  const SmallSplit split(60);
  const SmallSplit longer(61);
  const Dataset dataset = Dataset::Open(split.folder());
  const View whole = dataset;
  const View some = View::Subset(dataset, {1, 2, 3});
  const View others = View::Subset(dataset, {1, 2, 4});
  const View balanced = View::ClassBalanced(dataset, "class");
  EXPECT_EQ(whole.digest(), dataset.digest());
  EXPECT_EQ(some.DifferenceFrom(View::Subset(dataset, {1, 2, 3}).digest()), "");
  EXPECT_THAT(some.DifferenceFrom(others.digest()), HasSubstr("other records"));
  EXPECT_THAT(some.DifferenceFrom(balanced.digest()), HasSubstr("other records"));
  EXPECT_THAT(some.DifferenceFrom(whole.digest()), HasSubstr("belongs to all records"));
  EXPECT_THAT(whole.DifferenceFrom(some.digest()), HasSubstr("belongs to a view"));
  EXPECT_THAT(View::ClassBalanced(dataset, "class", 9).DifferenceFrom(balanced.digest()),
              HasSubstr("other records"));
  EXPECT_THAT(View(Dataset::Open(longer.folder())).DifferenceFrom(some.digest()),
              HasSubstr("train-"));
}

}  // namespace
}  // namespace recpack
