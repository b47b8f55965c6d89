// Batch steps: mixing and user functions.
#include "recpack/loader/batch_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "recpack/kernels/mix.h"
#include "recpack/loader/loader.h"
#include "src/loader/image/beta.h"
#include "tests/base/error_of.h"
#include "tests/loader/small_split.h"

namespace recpack {
namespace {

using testing::HasSubstr;

constexpr uint32_t kBatch = 10;
constexpr uint32_t kPixels = 192;
constexpr uint32_t kClasses = 101;

LoaderOptions MixOptions(MixImages mix, int threads = 2) {
  LoaderOptions options{.fields = SmallFields(), .batch_size = kBatch, .seed = 5};
  mix.classes = kClasses;
  options.batch_steps = {mix};
  options.threads = threads;
  return options;
}

std::string StepHash(const SmallSplit& split, const LoaderOptions& options, size_t count = 12) {
  Loader loader(Dataset::Open(split.folder()), options);
  Sha256 digest;
  for (const Taken& each : Take(loader, count)) digest.Update(each.bytes);
  return Hex(digest.Finish()).substr(0, 16);
}

TEST(MixImages, IsFrozenWhateverTheThreads) {
  const SmallSplit split(101);
  struct Case {
    const char* name;
    MixImages mix;
    const char* hash;
  };
  for (const Case& each : {Case{"mixup", {.mixup_alpha = 0.2}, "ae393f563479a491"},
                           Case{"cutmix", {.cutmix_alpha = 1}, "0a4fb086c96b8e33"},
                           Case{"both",
                                {.mixup_alpha = 2, .cutmix_alpha = 1, .probability = 0.7},
                                "77a9f303c045df03"}}) {
    for (int threads = 1; threads <= 4; ++threads) {
      EXPECT_EQ(StepHash(split, MixOptions(each.mix, threads)), each.hash) << each.name;
    }
    MixImages other = each.mix;
    other.stream = 1;
    EXPECT_NE(StepHash(split, MixOptions(other)), each.hash) << each.name;
  }
}

// Pairs of the same batch with and without mixing.
struct Pair {
  Batch plain, mixed;
};

std::vector<Pair> Pairs(const SmallSplit& split, const MixImages& mix, int count,
                        ElementType type = ElementType::kF32) {
  LoaderOptions options = MixOptions(mix);
  options.prefetch = static_cast<uint32_t>(count) + 1;
  std::get<ImageField>(options.fields[0]).type = type;
  Loader mixed(Dataset::Open(split.folder()), options);
  options.batch_steps.clear();
  Loader plain(Dataset::Open(split.folder()), options);
  std::vector<Pair> pairs;
  for (int i = 0; i < count; ++i) pairs.push_back({*plain.Next(), *mixed.Next()});
  return pairs;
}

// Share of each sample's own label; labels are the record numbers, all different.
float ShareOf(const Pair& pair, uint32_t sample) {
  const auto* target = pair.mixed.Data<float>("target") + sample * kClasses;
  const auto* labels = pair.plain.Data<int64_t>("label");
  const auto own = static_cast<size_t>(labels[sample]);
  const auto other = static_cast<size_t>(labels[(sample + kBatch - 1) % kBatch]);
  float rest = 0;
  for (size_t c = 0; c < kClasses; ++c) rest += c == own || c == other ? 0 : target[c];
  EXPECT_EQ(rest, 0);
  EXPECT_NEAR(target[own] + target[other], 1, 1e-6);
  return target[own];
}

TEST(MixImages, MixupTakesSharesOfTheSampleBefore) {
  const SmallSplit split(101);
  bool seen = false;
  for (const Pair& pair : Pairs(split, {.mixup_alpha = 1}, 8)) {
    const auto* plain = pair.plain.Data<float>("image");
    const auto* mixed = pair.mixed.Data<float>("image");
    const float share = ShareOf(pair, 0);
    seen |= share > 0.1F && share < 0.9F;
    for (uint32_t i = 0; i < kBatch; ++i) {
      EXPECT_EQ(ShareOf(pair, i), share);
      const float* other = plain + (i + kBatch - 1) % kBatch * kPixels;
      for (uint32_t p = 0; p < kPixels; ++p) {
        ASSERT_NEAR(mixed[i * kPixels + p], share * plain[i * kPixels + p] + (1 - share) * other[p],
                    1e-6);
      }
    }
  }
  EXPECT_TRUE(seen);
}

TEST(MixImages, CutmixTakesRectanglesOfTheSampleBeforeInEveryType) {
  const SmallSplit split(101);
  for (const auto type : {ElementType::kU8, ElementType::kF16, ElementType::kF32}) {
    const size_t bytes = ElementBytes(type);
    int cut = 0;
    for (const Pair& pair : Pairs(split, {.cutmix_alpha = 1}, 8, type)) {
      const auto* plain = static_cast<const uint8_t*>(pair.plain.Raw("image"));
      const auto* mixed = static_cast<const uint8_t*>(pair.mixed.Raw("image"));
      for (uint32_t i = 0; i < kBatch; ++i) {
        const uint8_t* other = plain + (i + kBatch - 1) % kBatch * kPixels * bytes;
        uint32_t left = 8, right = 0, top = 8, bottom = 0;  // bounds of the foreign pixels
        const auto same = [&](uint32_t p, const uint8_t* as) {
          const uint8_t* at = mixed + (i * kPixels + p) * bytes;
          return std::equal(at, at + bytes, as + p * bytes);
        };
        for (uint32_t p = 0; p < kPixels; ++p) {
          if (same(p, plain + i * kPixels * bytes)) continue;
          left = std::min(left, p % 8), right = std::max(right, p % 8 + 1);
          top = std::min(top, p / 8 % 8), bottom = std::max(bottom, p / 8 % 8 + 1);
        }
        if (right == 0) continue;
        EXPECT_LE((right - left) * (bottom - top), 64 * (1 - ShareOf(pair, i)) + 1e-3);
        for (uint32_t p = 0; p < kPixels; ++p) {
          const bool inside =
              p % 8 >= left && p % 8 < right && p / 8 % 8 >= top && p / 8 % 8 < bottom;
          EXPECT_TRUE(!inside || same(p, other));
        }
        ++cut;
      }
    }
    EXPECT_GT(cut, 20);
  }
}

TEST(MixImages, WithoutMixingTargetsAreOneHot) {
  const SmallSplit split(101);
  for (const Pair& pair : Pairs(split, {.mixup_alpha = 1, .probability = 0}, 3)) {
    for (uint32_t i = 0; i < kBatch; ++i) EXPECT_EQ(ShareOf(pair, i), 1);
  }
}

TEST(MixImages, ShortAndEmptyBatchesAreTakenAsTheyAre) {
  const SmallSplit split(11);
  for (uint32_t rank = 0; rank < 2; ++rank) {
    LoaderOptions options = MixOptions({.mixup_alpha = 1});
    options.last_batch = LastBatch::kKeep;
    options.world_size = 2;
    options.rank = rank;
    options.batch_size = 5;
    Loader loader(Dataset::Open(split.folder()), options);
    EXPECT_EQ(loader.Next()->size(), 5u);
    EXPECT_EQ(loader.Next()->size(), 1 - rank);
  }
}

TEST(MixImages, SaysWhatItDoesNotDo) {
  const SmallSplit split(30);
  const auto reason = [&](auto change) {
    LoaderOptions options = MixOptions({.mixup_alpha = 1});
    change(std::get<MixImages>(options.batch_steps[0]), options);
    return std::string(ErrorOf([&] {
                         Loader loader(Dataset::Open(split.folder()), options);
                         loader.Next();
                       }).what());
  };
  EXPECT_THAT(reason([](auto& m, auto&) { m.classes = 0; }), HasSubstr("number of classes"));
  EXPECT_THAT(reason([](auto& m, auto&) { m.cutmix_alpha = -1; }), HasSubstr("alpha -1"));
  EXPECT_THAT(reason([](auto& m, auto&) { m.probability = 2; }), HasSubstr("probability 2"));
  EXPECT_THAT(reason([](auto& m, auto&) { m.image = "x"; }), HasSubstr("it has: image, label"));
  EXPECT_THAT(reason([](auto& m, auto&) { m.image = "label"; }),
              HasSubstr("which is not a type of pictures"));
  EXPECT_THAT(reason([](auto& m, auto&) { m.label = "image"; }), HasSubstr("holds no labels"));
  EXPECT_THAT(reason([](auto& m, auto&) { m.target = "label"; }), HasSubstr("two arrays"));
  EXPECT_THAT(reason([](auto& m, auto&) { m.stream = 65536; }), HasSubstr("no stream 65536"));
  EXPECT_THAT(reason([](auto& m, auto&) { m.classes = 5; }), HasSubstr("of 5 classes"));
  EXPECT_THAT(
      reason([](auto&, auto& o) { std::get<ImageField>(o.fields[0]).finish_on_device = true; }),
      HasSubstr("for a device"));
}

TEST(MixInto, RoundsOnce) {
  const std::array<float, 4> other = {0, 1, -3, 100};
  std::array<float, 4> f32 = {1, 2, 3, 4};
  MixInto(ElementType::kF32, 0.25, f32.data(), other.data(), 4);
  EXPECT_EQ(f32, (std::array<float, 4>{0.25, 1.25, -1.5, 76}));
  std::array<uint8_t, 3> u8 = {255, 0, 10};
  const std::array<uint8_t, 3> other_u8 = {255, 255, 11};
  MixInto(ElementType::kU8, 0.5, u8.data(), other_u8.data(), 3);
  EXPECT_EQ(u8, (std::array<uint8_t, 3>{255, 128, 11}));
  // 1, the smallest subnormal, -2, 65504, mixed with themselves: unchanged.
  std::array<uint16_t, 4> f16 = {0x3c00, 0x0001, 0xc000, 0x7bff};
  const auto same = f16;
  MixInto(ElementType::kF16, 0.5, f16.data(), same.data(), 4);
  EXPECT_EQ(f16, same);
  std::array<uint16_t, 2> bf16 = {0x3f80, 0xc040};  // 1, -3
  const std::array<uint16_t, 2> other_bf16 = {0x4040, 0x3f80};
  MixInto(ElementType::kBf16, 0.5, bf16.data(), other_bf16.data(), 2);
  EXPECT_EQ(bf16, (std::array<uint16_t, 2>{0x4000, 0xbf80}));
}

// Beta(alpha, alpha) has mean 1/2 and variance 1 / (4 (2 alpha + 1)); limits are five standard
// errors.
TEST(DrawBeta, HasTheMomentsOfTheDistribution) {
  for (const double alpha : {0.05, 0.2, 1.0, 2.5, 40.0}) {
    constexpr int kDraws = 20000;
    double sum = 0, squares = 0;
    for (int i = 0; i < kDraws; ++i) {
      KeyedRandom random(3, 4, static_cast<uint64_t>(i));
      const double x = DrawBeta(alpha, random) - 0.5;
      ASSERT_TRUE(x >= -0.5 && x <= 0.5);
      sum += x;
      squares += x * x;
    }
    const double variance = 1 / (4 * (2 * alpha + 1));
    EXPECT_TRUE(std::abs(sum / kDraws) <= 5 * std::sqrt(variance / kDraws)) << alpha;
    // The fourth moment is at most that of a coin or of a normal distribution.
    const double error = std::sqrt(std::min(3 * variance * variance, 0.0625) / kDraws);
    EXPECT_TRUE(std::abs(squares / kDraws - variance) <= 5 * error) << alpha;
  }
}

TEST(BatchFunction, SeesTheWholeBatchAndAddsArrays) {
  const SmallSplit split(60);
  LoaderOptions options{.fields = SmallFields(), .batch_size = kBatch, .seed = 5};
  options.batch_steps = {BatchFunction{
      .arrays = {{.name = "sum", .type = ElementType::kI64},
                 {.name = "draw", .type = ElementType::kF32, .shape = {2}}},
      .call = [](BatchView& batch) {
        int64_t sum = 0;
        for (uint32_t i = 0; i < batch.size; ++i) {
          EXPECT_EQ(batch.Data<int64_t>("label")[i], static_cast<int64_t>(batch.ids[i]));
          sum += batch.Data<int64_t>("label")[i];
        }
        std::fill_n(batch.Data<int64_t>("sum"), batch.size, sum);
        for (uint32_t i = 0; i < 2 * batch.size; ++i) {
          batch.Data<float>("draw")[i] = batch.random.NextUnit();
        }
      }}};
  options.threads = 1;
  const std::string expected = StepHash(split, options);
  for (options.threads = 2; options.threads <= 4; ++options.threads) {
    EXPECT_EQ(StepHash(split, options), expected);
  }
  Loader loader(Dataset::Open(split.folder()), options);
  const auto batch = loader.Next();
  int64_t sum = 0;
  for (const uint64_t id : batch->ids()) sum += static_cast<int64_t>(id);
  EXPECT_EQ(batch->Data<int64_t>("sum")[kBatch - 1], sum);
}

TEST(BatchFunction, WhatItThrowsSaysWhichBatch) {
  const SmallSplit split(60);
  const auto thrown = [&](auto call) {
    LoaderOptions options{.fields = SmallFields(), .batch_size = kBatch, .threads = 3};
    options.batch_steps = {BatchFunction{.call = [call](BatchView& batch) {
      if (batch.position == 20) call();
    }}};
    Loader loader(Dataset::Open(split.folder()), options);
    EXPECT_TRUE(loader.Next());
    EXPECT_TRUE(loader.Next());
    const Error error = ErrorOf([&] { loader.Next(); });
    EXPECT_THROW(loader.Next(), Error) << "the loader is at its end";
    return error;
  };
  EXPECT_THAT(thrown([] { throw std::runtime_error("no good"); }).what(),
              HasSubstr("no good, in the batch from position 20 of epoch 0"));
  EXPECT_EQ(thrown([] { throw Error(ErrorKind::kIo, "gone"); }).kind(), ErrorKind::kIo);
  EXPECT_THAT(thrown([] { throw 42; }).what(), HasSubstr("position 20"));
}

}  // namespace
}  // namespace recpack
