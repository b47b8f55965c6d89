// Images left for a device to finish.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "recpack/base/error.h"
#include "tests/loader/small_split.h"

namespace recpack {
namespace {

LoaderOptions Options(bool finish_on_device, ImageLayout layout, CropKind crop) {
  LoaderOptions options{.fields = SmallFields(), .batch_size = 7, .seed = 3, .threads = 2};
  auto& image = std::get<ImageField>(options.fields[0]);
  image.finish_on_device = finish_on_device;
  image.layout = layout;
  image.crop = crop;
  image.type = ElementType::kF16;
  image.mean = {0.1, 0.2, 0.3};
  return options;
}

class Unfinished : public testing::TestWithParam<CropKind> {};

TEST_P(Unfinished, FinishedLaterTheyAreTheSame) {
  const SmallSplit split(40);
  const Dataset dataset = Dataset::Open(split.folder());
  for (const ImageLayout layout : {ImageLayout::kNhwc, ImageLayout::kNchw}) {
    Loader whole(dataset, Options(false, layout, GetParam()));
    Loader raw(dataset, Options(true, layout, GetParam()));
    const auto& field = std::get<ImageField>(raw.options().fields[0]);
    const Finisher finisher(ToFinishOptions(field));
    std::vector<uint8_t> finished(finisher.out_bytes());
    int flips = 0;
    while (const auto expected = whole.Next()) {
      const auto batch = raw.Next();
      ASSERT_TRUE(batch);
      ASSERT_EQ(batch->ids(), expected->ids());
      ASSERT_EQ(batch->arrays()[0].sample_bytes, 3 * 8 * 8U);
      ASSERT_EQ(batch->arrays()[1].shape, std::vector<uint32_t>{3});
      const int32_t* places = batch->Data<int32_t>("image_geometry");
      for (uint32_t i = 0; i < batch->size(); ++i) {
        FinishGeometry geometry;
        std::memcpy(static_cast<void*>(&geometry), places + 3 * i, sizeof geometry);
        EXPECT_EQ(geometry.flip, places[3 * i + 2] != 0);
        flips += geometry.flip;
        finisher(batch->Data<uint8_t>("image") + i * 192, geometry, finished.data());
        EXPECT_EQ(
            std::memcmp(finished.data(), expected->Data<uint8_t>("image") + i * finished.size(),
                        finished.size()),
            0);
      }
    }
    EXPECT_GT(flips, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Crops, Unfinished,
                         testing::Values(CropKind::kNone, CropKind::kPadAndCrop,
                                         CropKind::kRandomResized, CropKind::kResize));

TEST(Unfinished, OptionsOfAFieldWithoutSenseAreRefused) {
  EXPECT_THROW(ToFinishOptions({.height = 0}), Error);
}

}  // namespace
}  // namespace recpack
