#include "src/pack/item/image_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recpack/image/decode.h"
#include "recpack/image/encode.h"
#include "tests/pack/source_testing.h"

namespace recpack::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Image Picture(int width, int height) {
  Image image;
  image.Reshape(width, height, 3);
  for (size_t i = 0; i < image.pixels.size(); ++i) {
    image.pixels[i] = static_cast<uint8_t>(i / 3 % width * 7 + i % 3 * 40 + i / 900 * 11);
  }
  return image;
}

class ImageFieldsTest : public ::testing::Test {
 protected:
  ImageView Process(ImageOptions options, ByteView bytes, std::string_view name = "a.jpg") {
    fields_.emplace(options, counters_);
    return fields_->Process(bytes, name);
  }
  std::vector<std::string> Notices() const {
    std::vector<std::string> notices;
    counters_.AddNotices(notices);
    return notices;
  }

  ImageCounters counters_;
  std::optional<ImageFields> fields_;
};

TEST_F(ImageFieldsTest, ViewsTheGivenBytesWhenNothingIsAskedFor) {
  const ByteBuffer jpeg = EncodeJpeg(Picture(40, 30));
  const ImageView view = Process({}, jpeg);
  EXPECT_EQ(view.bytes.data(), jpeg.data());
  EXPECT_EQ(view.format, "JPEG");
  EXPECT_EQ(view.width, 40);
  EXPECT_EQ(view.height, 30);
}

TEST_F(ImageFieldsTest, CheckFindsDataThatIsCutOff) {
  ByteBuffer jpeg = EncodeJpeg(Picture(200, 200));
  jpeg.resize(jpeg.size() / 2);
  EXPECT_EQ(Process({}, jpeg).width, 200);
  const Error error = ErrorOf([&] { Process({.check = true}, jpeg, "folder/a.jpg"); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(error.place().path, "folder/a.jpg");
}

TEST_F(ImageFieldsTest, CheckWantsImagesWhereNamesPromiseThem) {
  const auto text = AsBytes("hello");
  EXPECT_EQ(ErrorOf([&] { Process({.check = true}, text, "a.jpeg"); }).kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(Process({.check = true}, text, "a.txt").format, "TXT");
  EXPECT_EQ(Process({}, text, "a.jpeg").format, "JPEG");
  EXPECT_EQ(Process({}, text, "a.tfrecord record 3").format, "");
}

TEST_F(ImageFieldsTest, ResizeGivesTheShorterSideAsJpeg) {
  const ByteBuffer png = EncodePng(Picture(90, 60));
  const ImageView view = Process({.resize = 20}, png, "a.png");
  EXPECT_EQ(view.format, "JPEG");
  EXPECT_EQ(view.width, 30);
  EXPECT_EQ(view.height, 20);
  EXPECT_EQ(DecodeImage(view.bytes).width, 30);
}

TEST_F(ImageFieldsTest, ResizeLeavesSmallImagesAlone) {
  const ByteBuffer png = EncodePng(Picture(90, 20));
  const ImageView view = Process({.resize = 20}, png, "a.png");
  EXPECT_EQ(view.bytes.data(), png.data());
  EXPECT_EQ(view.format, "PNG");
}

TEST_F(ImageFieldsTest, ResizeObeysTheQuality) {
  const ByteBuffer jpeg = EncodeJpeg(Picture(200, 200));
  const size_t small = Process({.resize = 100, .quality = 20}, jpeg).bytes.size();
  EXPECT_LT(small, Process({.resize = 100, .quality = 95}, jpeg).bytes.size());
}

TEST_F(ImageFieldsTest, TileKeepsThePixels) {
  const ByteBuffer jpeg = EncodeJpeg(Picture(300, 200));
  const ImageView view = Process({.tile = true}, jpeg);
  EXPECT_NE(view.bytes.data(), jpeg.data());
  EXPECT_EQ(DecodeImage(view.bytes), DecodeImage(jpeg));
  EXPECT_TRUE(Notices().empty());
}

TEST_F(ImageFieldsTest, WhatCannotBeTiledIsStoredAsItIsAndCounted) {
  const ByteBuffer tiled = EncodeJpeg(Picture(64, 64));
  ByteBuffer arithmetic = tiled;
  // The frame header of an arithmetically coded JPEG, which is stored unchanged and not decoded.
  for (size_t i = 0; i + 1 < arithmetic.size(); ++i) {
    if (arithmetic[i] != 0xff || arithmetic[i + 1] != 0xc0) continue;
    arithmetic[i + 1] = 0xc9;
    break;
  }
  const ImageView view = Process({.tile = true}, arithmetic);
  EXPECT_EQ(view.bytes.data(), arithmetic.data());
  EXPECT_THAT(Notices(), ElementsAre(HasSubstr("1 images could not be tiled")));
}

TEST_F(ImageFieldsTest, CheckDecodesGifs) {
  std::string gif("GIF89a\x05\x00\x04\x00\x00\x00\x00\x3b", 14);
  EXPECT_EQ(Process({}, AsBytes(gif), "a.gif").width, 5);
  EXPECT_THROW(Process({.check = true}, AsBytes(gif), "a.gif"), Error);  // it has no image
}

}  // namespace
}  // namespace recpack::pack
