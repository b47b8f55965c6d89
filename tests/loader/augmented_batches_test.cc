// Augmentation in a loader: independence of the random streams, and frozen results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <set>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/base/hash.h"
#include "recpack/example/builder.h"
#include "recpack/image/encode.h"
#include "recpack/loader/loader.h"
#include "recpack/loader/recipe.h"
#include "recpack/record/writer.h"
#include "src/base/format.h"
#include "tests/loader/settled.h"
#include "tests/loader/small_split.h"

namespace recpack {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

ImageField Picture() {
  ImageField image = std::get<ImageField>(SmallFields()[0]);
  image.type = ElementType::kU8;
  image.layout = ImageLayout::kNhwc;
  return image;
}

LoaderOptions AugmentedOptions(ImageField image, int threads = 2) {
  return {.fields = {std::move(image)}, .batch_size = 25, .seed = 17, .threads = threads};
}

std::vector<Taken> Batches(const SmallSplit& split, const LoaderOptions& options,
                           size_t count = 4) {
  Loader loader(Dataset::Open(split.folder()), options);
  return Take(loader, count);
}

std::string BatchesHash(const std::vector<Taken>& batches) {
  Sha256 digest;
  for (const Taken& each : batches) digest.Update(each.bytes);
  return Hex(digest.Finish()).substr(0, 16);
}

struct Family {
  const char* name;
  ImageAugment augment;
  const char* hash;  // frozen hash of four batches
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
      EXPECT_EQ(BatchesHash(Batches(split, AugmentedOptions(image, threads))), family.hash)
          << family.name;
    }
    image.view = 1;
    EXPECT_NE(BatchesHash(Batches(split, AugmentedOptions(image))), family.hash) << family.name;
  }
}

// An image of all 9s, so that erased pixels stand out.
TEST(AugmentedBatches, ErasesSmallerRectanglesAndNothingElse) {
  const SmallSplit split(100);
  ImageField plain = Picture();
  plain.layout = ImageLayout::kNchw;
  ImageField erased = plain;
  erased.augment.erasing = {.probability = 0.5};
  erased.mean = {0.5, 0.25, 1};
  const auto before = Batches(split, AugmentedOptions(plain));
  const auto after = Batches(split, AugmentedOptions(erased));
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
      for (const Taken& batch : Batches(split, AugmentedOptions(image), 1)) {
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

// Turning a family on does not change what the others draw: crop and erased places.
TEST(AugmentedBatches, FamiliesDrawNumbersOfTheirOwn) {
  const SmallSplit split(100);
  ImageField plain = Picture();
  ImageField neutral = plain;
  neutral.augment.colour = {.probability = 0, .brightness = 1};
  EXPECT_EQ(Batches(split, AugmentedOptions(plain)), Batches(split, AugmentedOptions(neutral)));

  ImageField erased = plain;
  erased.augment.erasing = {.probability = 1};
  erased.mean = {1, 1, 1};
  ImageField both = erased;
  both.augment.colour = {.brightness = 0.9};
  const auto one = Batches(split, AugmentedOptions(erased));
  const auto two = Batches(split, AugmentedOptions(both));
  EXPECT_NE(one, two);
  const auto where = Batches(split, AugmentedOptions(plain));
  for (size_t b = 0; b < one.size(); ++b) {
    for (size_t i = 0; i < one[b].bytes.size(); ++i) {
      if (one[b].bytes[i] != where[b].bytes[i]) {
        EXPECT_EQ(two[b].bytes[i], 255);
      }
    }
  }
}

// Uses raw images that are resized, which are made whole like encoded ones.
TEST(AugmentedBatches, ViewsDifferAndMakeThePictureOnce) {
  const SmallSplit split(100);
  ImageField first = Picture();
  first.crop = CropKind::kRandomResized;
  ImageField second = first;
  second.name = "second";
  second.view = 1;
  LoaderOptions options = AugmentedOptions(first);
  options.fields.push_back(second);
  Loader both(Dataset::Open(split.folder()), options);
  const LoaderStats stats = Settled(both);
  EXPECT_EQ(stats.Total(Stage::kDecode).count, stats.Total(Stage::kRead).count);
  const auto batch = both.Next();
  const auto bytes = [&](const char* name) {
    const auto* at = batch->Data<uint8_t>(name);
    return std::vector<uint8_t>(at, at + size_t{25} * 192);
  };
  EXPECT_NE(bytes("image"), bytes("second"));
  EXPECT_EQ(bytes("image"), Batches(split, AugmentedOptions(first), 1)[0].bytes);
  EXPECT_EQ(bytes("second"), Batches(split, AugmentedOptions(second), 1)[0].bytes);

  options.fields[1] = NumbersField{.name = "label"};  // a different raw shape is a different image
  second.raw_shape = {1, 8, 24};
  second.view = 0;
  options.fields.push_back(second);
  Loader shapes(Dataset::Open(split.folder()), options);
  const LoaderStats twice = Settled(shapes);
  EXPECT_EQ(twice.Total(Stage::kDecode).count, 2 * twice.Total(Stage::kRead).count);
}

// Views of encoded images, some with random crops, equal those of each field alone.
TEST(AugmentedBatches, ViewsOfEncodedPicturesAreThoseOfTheFieldAlone) {
  const fs::path folder = fs::temp_directory_path() / format("recpack-views-{}", ::getpid());
  fs::create_directories(folder);
  {
    RecordWriter writer(PosixFiles().Create((folder / "train-00000-of-00001.tfrecord").string()),
                        {});
    for (int i = 0; i < 20; ++i) {
      Image picture;
      picture.Reshape(40 + i, 50, 3);
      for (size_t p = 0; p < picture.pixels.size(); ++p) {
        picture.pixels[p] = static_cast<uint8_t>(p * (i + 3) / 50);
      }
      ExampleBuilder example;
      const ByteBuffer file = i % 2 == 0 ? EncodeJpeg(picture) : EncodePng(picture);
      example.AddBytes("image/encoded", file);
      example.SerializeTo(writer.Begin(example.ByteSize()).data());
      writer.End();
    }
    writer.Finish(false);
  }
  const Dataset dataset = Dataset::Open(folder.string());
  const auto field = [](const char* name, CropKind crop, uint32_t view) {
    return ImageField{.name = name,
                      .height = 24,
                      .width = 24,
                      .crop = crop,
                      .resize = 32,
                      .flip = 0.5F,
                      .type = ElementType::kU8,
                      .view = view};
  };
  const std::vector<Field> fields = {
      field("a", CropKind::kRandomResized, 0), field("b", CropKind::kResizeCentre, 1),
      field("c", CropKind::kRandomResized, 2), field("d", CropKind::kResize, 3)};
  Loader all(dataset, {.fields = fields, .batch_size = 20, .threads = 2});
  const auto together = all.Next();
  for (const Field& each : fields) {
    const auto& name = std::get<ImageField>(each).name;
    Loader one(dataset, {.fields = {each}, .batch_size = 20, .threads = 2});
    const auto alone = one.Next();
    EXPECT_EQ(std::memcmp(alone->Raw(name), together->Raw(name), 20 * 24 * 24 * 3), 0) << name;
  }
  const LoaderStats stats = Settled(all);
  EXPECT_EQ(stats.Total(Stage::kDecode).count, stats.Total(Stage::kRead).count);
  fs::remove_all(folder);
}

TEST(AugmentedBatches, RecipesWithAPolicyKeepTheCrop) {
  const auto image = [](const char* name) { return std::get<ImageField>(Recipe(name)[0]); };
  const ImageField plain = image("imagenet-train");
  EXPECT_EQ(plain.augment.policy.kind, AugmentPolicyKind::kNone);
  for (const char* name : {"imagenet-train-randaugment", "imagenet-train-trivialaugment"}) {
    ImageField with = image(name);
    EXPECT_NE(with.augment.policy.kind, AugmentPolicyKind::kNone);
    EXPECT_EQ(with.augment.policy.interpolation, Interpolation::kBilinear);
    EXPECT_EQ(with.crop, plain.crop);
    EXPECT_EQ(with.flip, plain.flip);
  }
  EXPECT_EQ(RecipeNames().size(), 6u);
  for (const auto& name : RecipeNames()) EXPECT_EQ(Recipe(name).size(), 2u);
}

TEST(AugmentedBatches, SayWhatCannotBe) {
  const SmallSplit split(30);
  const auto reason = [&](auto change) -> std::string {
    ImageField image = Picture();
    change(image);
    try {
      Loader loader(Dataset::Open(split.folder()), AugmentedOptions(image));
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
              HasSubstr("magnitude 31"));
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
