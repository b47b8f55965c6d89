#include "recpack/loader/mixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "recpack/base/error.h"
#include "recpack/loader/loader.h"
#include "src/loader/order/sampler.h"
#include "tests/base/error_of.h"
#include "tests/loader/small_split.h"

namespace recpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class MixtureTest : public testing::Test {
 protected:
  // Samples t = begin, ... across epochs.
  static std::vector<SampledRecord> Samples(const Mixture& mixture, uint64_t begin, uint64_t count,
                                            const char* order = "global", uint64_t seed = 5) {
    Sampler sampler(mixture, ResolveOrder(ParseOrder(order), mixture), seed);
    std::vector<SampledRecord> all;
    for (uint64_t t = begin; t < begin + count; ++t) {
      all.push_back(sampler.At(t / mixture.samples(), t % mixture.samples()));
    }
    return all;
  }

  SmallSplit large_split_{101};
  SmallSplit little_split_{10, 1};
  Dataset large_ = Dataset::Open(large_split_.folder());
  Dataset little_ = Dataset::Open(little_split_.folder());
};

TEST_F(MixtureTest, WeightsBecomeCountsByTheLargestRemainder) {
  const auto counts = [&](std::vector<double> weights, uint32_t period) {
    std::vector<MixedView> views;
    for (const double weight : weights) views.push_back({large_, weight});
    return Mixture(views, {.period = period}).counts();
  };
  EXPECT_THAT(counts({1, 1, 1}, 100), ElementsAre(34, 33, 33));
  EXPECT_THAT(counts({0.7, 0.2, 0.1}, 10), ElementsAre(7, 2, 1));
  EXPECT_THAT(counts({1.5, 1.5, 7}, 10), ElementsAre(2, 1, 7));
  EXPECT_THAT(counts({5, 5, 90}, 50), ElementsAre(3, 2, 45));
  EXPECT_THAT(counts({1e-9, 1e-9}, 2), ElementsAre(1, 1));
}

TEST_F(MixtureTest, SharesAreExactInEveryPeriodWhereverAnEpochEnds) {
  const Mixture mixture({{large_, 6}, {little_, 3}, {View::Subset(little_, {3, 4}), 1}},
                        {.period = 20, .epoch_samples = 73});
  const auto samples = Samples(mixture, 0, 2000);
  std::set<std::vector<uint32_t>> places;
  for (size_t begin = 0; begin < samples.size(); begin += 20) {
    std::vector<uint32_t> counts(3), views;
    for (size_t t = begin; t < begin + 20; ++t) {
      ++counts[samples[t].view];
      views.push_back(samples[t].view);
    }
    EXPECT_THAT(counts, ElementsAre(12, 6, 2)) << begin;
    places.insert(views);
  }
  EXPECT_GT(places.size(), 90u) << "each period has its own places";
}

TEST_F(MixtureTest, NoRecordComesAgainBeforeAllHaveCome) {
  const Mixture mixture({{large_, 2}, {little_, 1}}, {.period = 3, .epoch_samples = 50});
  for (const char* order : {"sequential", "global", "window:2:3:2"}) {
    const auto samples = Samples(mixture, 0, 6 * 101, order);
    std::vector<std::vector<uint64_t>> ids(2);
    for (const auto& [view, id] : samples) ids[view].push_back(id);
    for (const auto& [view, size] : {std::pair(0, 101), std::pair(1, 10)}) {
      std::set<std::vector<uint64_t>> orders;
      for (auto at = ids[view].begin(); ids[view].end() - at >= size; at += size) {
        EXPECT_EQ(std::set(at, at + size).size(), static_cast<size_t>(size));
        orders.emplace(at, at + size);
      }
      const bool one_order = std::string(order) == "sequential";
      EXPECT_EQ(orders.size(), one_order ? 1u : view == 0 ? 4u : 20u) << order;
      if (one_order) {
        EXPECT_TRUE(std::is_sorted(ids[view].begin(), ids[view].begin() + size));
      }
    }
  }
}

TEST_F(MixtureTest, AnySampleIsFoundWithoutThoseBefore) {
  const Mixture mixture({{large_, 2}, {little_, 1}}, {.period = 11});
  const auto all = Samples(mixture, 0, 3000);
  for (uint64_t begin = 0; begin < 2999; begin += 97) {
    EXPECT_EQ(Samples(mixture, begin, 1)[0], all[begin]) << begin;
  }
  EXPECT_NE(Samples(mixture, 0, 50, "global", 6), Samples(mixture, 0, 50));
  // Also after billions of samples.
  const auto far = Samples(mixture, (uint64_t{1} << 47) * 11, 11);
  EXPECT_EQ(std::ranges::count(far, 1u, &SampledRecord::view), 4);
}

TEST_F(MixtureTest, ByDefaultAnEpochHasEachRecordAtLeastOnce) {
  const Mixture mixture({{large_, 3}, {little_, 1}}, {.period = 4});
  EXPECT_EQ(mixture.samples(), 34u * 4);  // 101 records, 3 per period
  std::set<std::pair<uint32_t, uint64_t>> seen;
  for (const auto& [view, id] : Samples(mixture, 0, mixture.samples())) seen.emplace(view, id);
  EXPECT_EQ(seen.size(), 111u);
  const Mixture other({{large_, 1}, {little_, 1}}, {.period = 40});
  EXPECT_EQ(other.samples(), 240u);  // six periods of 20 each
  EXPECT_EQ(Mixture({{large_, 1}, {little_, 1}}, {.epoch_samples = 17}).samples(), 17u);
}

TEST_F(MixtureTest, OneDataSetIsNoMixture) {
  EXPECT_EQ(Mixture(large_).digest(), large_.digest());
  EXPECT_EQ(Mixture(large_).samples(), 101u);
  Sampler sampler(large_, {OrderKind::kGlobal}, 5);
  Order order({OrderKind::kGlobal}, 5, 2, 101);
  for (uint64_t p = 0; p < 101; ++p) EXPECT_EQ(sampler.At(2, p).id, order(p));
}

TEST_F(MixtureTest, BatchesSayWhichDataSetSamplesAreFrom) {
  const Mixture mixture({{large_, 1}, {View::Subset(little_, {7, 8, 9}), 1}}, {.period = 2});
  Loader loader(mixture, {.fields = {NumbersField{.name = "label"}}, .batch_size = 20});
  const auto batch = loader.Next();
  int of_second = 0;
  for (uint32_t i = 0; i < 20; ++i) {
    EXPECT_EQ(batch->Data<int64_t>("label")[i], static_cast<int64_t>(batch->ids()[i]));
    if (batch->views()[i] == 0) continue;
    ++of_second;
    EXPECT_GE(batch->ids()[i], 7u);
  }
  EXPECT_EQ(of_second, 10);
}

TEST_F(MixtureTest, EachViewHasFieldsOfItsOwn) {
  const Mixture mixture({{large_, 3}, {little_, 1}}, {.period = 4});
  auto darker = SmallFields();
  std::get<ImageField>(darker[0]).mean = {0.5, 0.5, 0.5};
  const auto bytes = [](const Mixture& samples, std::vector<std::vector<Field>> fields) {
    Loader loader(
        samples,
        {.fields = {}, .view_fields = std::move(fields), .batch_size = 4, .seed = 2, .threads = 2});
    return Take(loader, 10);
  };
  const auto mixed = bytes(mixture, {SmallFields(), darker});
  const auto first = bytes(mixture, {SmallFields(), SmallFields()});
  const auto second = bytes(mixture, {darker, darker});
  constexpr size_t kImage = 3 * 8 * 8 * 4;
  size_t of_little = 0;
  for (size_t batch = 0; batch < mixed.size(); ++batch) {
    ASSERT_NE(first[batch].bytes, second[batch].bytes);
    for (size_t i = 0; i < 4; ++i) {
      const bool little = mixed[batch].views[i] == 1;
      of_little += little;
      const auto& expected = little ? second[batch].bytes : first[batch].bytes;
      const auto* const got = mixed[batch].bytes.data() + i * kImage;
      EXPECT_TRUE(std::equal(got, got + kImage, expected.data() + i * kImage)) << batch << ' ' << i;
    }
  }
  EXPECT_EQ(of_little, 10U);
}

TEST_F(MixtureTest, RefusesFieldsThatDoNotFitTogether) {
  const Mixture mixture({{large_, 1}, {little_, 1}});
  const auto reason = [&](std::vector<Field> fields, std::vector<std::vector<Field>> of_views) {
    return std::string(ErrorOf([&] {
                         Loader(mixture, {.fields = std::move(fields),
                                          .view_fields = std::move(of_views),
                                          .batch_size = 4});
                       }).what());
  };
  auto larger = SmallFields();
  std::get<ImageField>(larger[0]).height = 9;
  EXPECT_THAT(reason({}, {SmallFields(), larger}),
              HasSubstr("view 1 of the mixture give 'image' of f32 (3, 9, 8) where those of view 0 "
                        "give 'image' of f32 (3, 8, 8)"));
  auto fewer = SmallFields();
  fewer.pop_back();
  EXPECT_THAT(reason({}, {SmallFields(), fewer}), HasSubstr("give nothing where"));
  EXPECT_THAT(reason({}, {SmallFields()}), HasSubstr("fields for 1 views, and 2 in the mixture"));
  EXPECT_THAT(reason({}, {SmallFields(), {}}), HasSubstr("a view has no fields"));
  EXPECT_THAT(reason(SmallFields(), {SmallFields(), SmallFields()}), HasSubstr("both"));
}

TEST_F(MixtureTest, RefusesWhatMakesNoSense) {
  const auto reason = [&](const std::vector<MixedView>& views, const MixOptions& options = {}) {
    return std::string(ErrorOf([&] { Mixture(views, options); }).what());
  };
  EXPECT_THAT(reason({}), HasSubstr("the mixture has no data sets"));
  EXPECT_THAT(reason({{large_, 1}, {little_, 0}}), HasSubstr("invalid weight 0"));
  EXPECT_THAT(reason({{large_, -1}}), HasSubstr("invalid weight -1"));
  EXPECT_THAT(reason({{large_, NAN}}), HasSubstr("invalid weight nan"));
  EXPECT_THAT(reason({{large_, 1000}, {little_, 1}}), HasSubstr("no sample in a period of 100"));
  EXPECT_THAT(reason({{large_, 1}}, {.period = 0}), HasSubstr("period of 0"));
}

TEST_F(MixtureTest, DigestsTellMixturesApart) {
  const Mixture mixture({{large_, 2}, {little_, 1}});
  const auto difference = [&](const Mixture& other) {
    return mixture.DifferenceFrom(other.digest());
  };
  EXPECT_EQ(difference(Mixture({{large_, 4}, {little_, 2}})), "");
  EXPECT_THAT(difference(large_), HasSubstr("one data set"));
  EXPECT_THAT(Mixture(large_).DifferenceFrom(mixture.digest()), HasSubstr("belongs to a mixture"));
  EXPECT_THAT(difference(Mixture({{large_, 2}, {View::Subset(little_, {1}), 1}},
                                 {.epoch_samples = mixture.samples()})),
              HasSubstr("differ for " + little_split_.folder()));
  EXPECT_THAT(difference(Mixture({{large_, 2}, {little_, 1}}, {.epoch_samples = 9})),
              HasSubstr("epoch length"));
  EXPECT_THAT(difference(Mixture({{large_, 1}, {little_, 1}})), HasSubstr(large_split_.folder()));
}

}  // namespace
}  // namespace recpack
