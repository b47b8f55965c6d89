// Augmentations in a loader: what depends on what, and bits that stay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "recpack/base/error.h"
#include "recpack/base/hash.h"
#include "recpack/pipeline/loader.h"
#include "tests/pipeline/small_split.h"

namespace recpack {
namespace {

using testing::HasSubstr;

ImageField Picture() {
  ImageField image = std::get<ImageField>(SmallFields()[0]);
  image.type = ElementType::kU8;
  image.layout = ImageLayout::kNhwc;
  return image;
}

LoaderOptions Options(ImageField image, int threads = 2) {
  return {.fields = {std::move(image)}, .batch_size = 25, .seed = 17, .threads = threads};
}

std::vector<Taken> Batches(const SmallSplit& split, const LoaderOptions& options,
                           size_t count = 4) {
  Loader loader(Dataset::Open(split.folder()), options);
  return Take(loader, count);
}

std::string HashOf(const std::vector<Taken>& batches) {
  Sha256 digest;
  for (const Taken& each : batches) digest.Update(each.bytes);
  return Hex(digest.Finish()).substr(0, 16);
}

struct Family {
  const char* name;
  ImageAugment augment;
  const char* hash;  // of four batches, frozen
};

std::vector<Family> Families() {
  return {
      {"colour",
       {.colour = {.brightness = 0.4, .contrast = 0.4, .saturation = 0.4, .hue = 0.1}},
       "0bb15e2f531d1baf"},
      {"sometimes", {.colour = {.probability = 0.5, .brightness = 0.8}}, "4de3991fa604aaa7"},
      {"rand", {.policy = {.kind = AugmentPolicyKind::kRandAugment}}, "0826e8cb68f3ab4f"},
      {"wide", {.policy = {.kind = AugmentPolicyKind::kTrivialAugmentWide}}, "0e54853d86894613"},
      {"bilinear",
       {.policy = {.kind = AugmentPolicyKind::kTrivialAugmentWide,
                   .interpolation = Interpolation::kBilinear}},
       "103eca18bf82da8d"},
      {"erasing", {.erasing = {.probability = 0.5}}, "1388373a3c9ab5f7"},
  };
}

TEST(AugmentedBatches, AreFrozenWhateverTheThreads) {
  const SmallSplit split(101);
  for (const Family& family : Families()) {
    ImageField image = Picture();
    image.type = ElementType::kF32;
    image.layout = ImageLayout::kNchw;
    image.mean = {0.4914, 0.4822, 0.4465};
    image.std = {0.2470, 0.2435, 0.2616};
    image.augment = family.augment;
    for (int threads = 1; threads <= 4; ++threads) {
      EXPECT_EQ(HashOf(Batches(split, Options(image, threads))), family.hash) << family.name;
    }
    image.view = 1;
    EXPECT_NE(HashOf(Batches(split, Options(image))), family.hash) << family.name;
  }
}

// A picture that is all 9, so that erased pixels stand out.
TEST(AugmentedBatches, ErasesSmallerRectanglesAndNothingElse) {
  const SmallSplit split(100);
  ImageField plain = Picture();
  plain.layout = ImageLayout::kNchw;
  ImageField erased = plain;
  erased.augment.erasing = {.probability = 0.5};
  erased.mean = {0.5, 0.25, 1};
  const auto before = Batches(split, Options(plain));
  const auto after = Batches(split, Options(erased));
  constexpr std::array<uint8_t, 3> kValues = {128, 64, 255};
  int pictures = 0;
  std::set<std::pair<int, int>> sizes;
  for (size_t b = 0; b < before.size(); ++b) {
    for (size_t i = 0; i < 25; ++i) {
      const uint8_t* from = &before[b].bytes[i * 192];
      const uint8_t* to = &after[b].bytes[i * 192];
      int left = 8, top = 8, right = -1, bottom = -1;
      for (int p = 0; p < 64; ++p) {
        if (from[p] == to[p]) continue;
        left = std::min(left, p % 8), right = std::max(right, p % 8);
        top = std::min(top, p / 8), bottom = std::max(bottom, p / 8);
      }
      if (right < 0) continue;
      ++pictures;
      sizes.insert({right - left + 1, bottom - top + 1});
      EXPECT_LT(right - left, 7);
      EXPECT_LT(bottom - top, 7);
      for (int y = top; y <= bottom; ++y) {
        for (int x = left; x <= right; ++x) {
          for (size_t c = 0; c < 3; ++c) EXPECT_EQ(to[c * 64 + y * 8 + x], kValues[c]);
        }
      }
    }
  }
  EXPECT_GT(pictures, 30);
  EXPECT_LT(pictures, 65);
  EXPECT_GT(sizes.size(), 6u);
}

TEST(AugmentedBatches, ErasedIsZeroInEveryTypeAndLayout) {
  const SmallSplit split(100);
  ImageField image = Picture();
  image.mean = {0.31, 0.41, 0.51};
  image.augment.erasing = {.probability = 1, .area = {0.2, 0.3}};
  std::vector<size_t> zeros;
  for (const auto type : {ElementType::kF32, ElementType::kF16, ElementType::kBf16}) {
    for (const auto layout : {ImageLayout::kNhwc, ImageLayout::kNchw}) {
      image.type = type;
      image.layout = layout;
      size_t count = 0;
      const size_t bytes = ElementBytes(type);
      for (const Taken& batch : Batches(split, Options(image), 1)) {
        for (size_t i = 0; i < batch.bytes.size(); i += bytes) {
          count += std::all_of(&batch.bytes[i], &batch.bytes[i] + bytes, [](auto b) { return !b; });
        }
      }
      zeros.push_back(count);
    }
  }
  EXPECT_GT(zeros[0], 25u * 3 * 64 / 10);
  for (const size_t count : zeros) EXPECT_EQ(count, zeros[0]);
}

// Whether a family is on leaves what the others draw: the crop and the erased places.
TEST(AugmentedBatches, FamiliesDrawNumbersOfTheirOwn) {
  const SmallSplit split(100);
  ImageField plain = Picture();
  ImageField neutral = plain;
  neutral.augment.colour = {.probability = 0, .brightness = 1};
  EXPECT_EQ(Batches(split, Options(plain)), Batches(split, Options(neutral)));

  ImageField erased = plain;
  erased.augment.erasing = {.probability = 1};
  erased.mean = {1, 1, 1};
  ImageField both = erased;
  both.augment.colour = {.brightness = 0.9};
  const auto one = Batches(split, Options(erased));
  const auto two = Batches(split, Options(both));
  EXPECT_NE(one, two);
  const auto where = Batches(split, Options(plain));
  for (size_t b = 0; b < one.size(); ++b) {
    for (size_t i = 0; i < one[b].bytes.size(); ++i) {
      if (one[b].bytes[i] != where[b].bytes[i]) {
        EXPECT_EQ(two[b].bytes[i], 255);
      }
    }
  }
}

TEST(AugmentedBatches, SayWhatCannotBe) {
  const SmallSplit split(30);
  const auto reason = [&](auto change) -> std::string {
    ImageField image = Picture();
    change(image);
    try {
      Loader loader(Dataset::Open(split.folder()), Options(image));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(reason([](auto& i) { i.augment.colour.hue = 0.6; }), HasSubstr("hue 0.6"));
  EXPECT_THAT(reason([](auto& i) { i.augment.colour.contrast = -1; }), HasSubstr("contrast -1"));
  EXPECT_THAT(reason([](auto& i) {
                i.augment.policy = {.kind = AugmentPolicyKind::kRandAugment, .magnitude = 31};
              }),
              HasSubstr("no magnitude 31"));
  EXPECT_THAT(reason([](auto& i) { i.augment.erasing.probability = 2; }), HasSubstr("erasing"));
  EXPECT_THAT(reason([](auto& i) { i.augment.erasing.area = {0.5, 0.2}; }), HasSubstr("0.5..0.2"));
  EXPECT_THAT(reason([](auto& i) {
                i.finish_on_device = true;
                i.augment.erasing.probability = 1;
              }),
              HasSubstr("on a device"));
  EXPECT_THAT(reason([](auto& i) { i.view = 65520; }), HasSubstr("view 65520"));
  EXPECT_THAT(reason([](auto& i) {
                i.raw_shape = {2, 8, 8};
                i.augment.colour.hue = 0.1;
              }),
              HasSubstr("2 channels"));
}

}  // namespace
}  // namespace recpack
