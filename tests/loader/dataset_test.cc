#include "recpack/loader/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <numeric>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/shards/index/build_index.h"
#include "tests/base/temporary_folder.h"
#include "tests/loader/dataset_records.h"
#include "tests/loader/small_split.h"
#include "tests/pack/source_testing.h"

namespace recpack {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Three shards in two folders.
class SpreadShards : public testing::Test {
 protected:
  SpreadShards() {
    fs::create_directories(folder_ / "a");
    fs::create_directories(folder_ / "b");
    for (uint64_t i = 0; i < 3; ++i) {
      fs::rename(split_.shard(i), folder_ / (i == 1 ? "b/" : "a/") + Name(i));
    }
  }

  static std::string Name(uint64_t i) {
    return "train-0000" + std::to_string(i) + "-of-00003.tfrecord";
  }
  std::vector<std::string> List() const {
    return {folder_ / "a/" + Name(0), folder_ / "b/" + Name(1), folder_ / "a/" + Name(2)};
  }

  SmallSplit split_{20};
  const std::vector<ByteBuffer> expected_ = Records(Dataset::Open(split_.folder()));
  TemporaryFolder folder_;
};

TEST_F(SpreadShards, AreOneDataSetInTheOrderOfTheList) {
  const Dataset dataset = Dataset::Open(List());
  EXPECT_EQ(Records(dataset), expected_);
  EXPECT_EQ(dataset.split(), "train");
  EXPECT_EQ(dataset.FindPlace(7).path, folder_ / "b/" + Name(1));
  std::vector<std::string> turned = List();
  std::swap(turned[0], turned[2]);
  EXPECT_NE(Records(Dataset::Open(turned)), expected_);
  EXPECT_NE(Dataset::Open(turned).digest(), dataset.digest());
  EXPECT_EQ(Dataset::Open(folder_ / "*/train-*").records(), 20u);
  EXPECT_EQ(Dataset::Open(folder_ / "*/train-{00000..00001}-of-*").records(), 13u);
}

TEST_F(SpreadShards, TakeWhatIndexesBesideThemKnow) {
  BuildIndexes(FindLayout(folder_ / "a"), {});
  // Indexed shards are not scanned: a wrong length is only detected on reading.
  ByteBuffer bytes = ReadWholeFile(PosixFiles(), List()[0]);
  bytes[0] ^= 1;
  WriteFileAtomically(PosixFiles(), List()[0], bytes, false);
  const Dataset dataset = Dataset::Open(List());
  EXPECT_EQ(dataset.records(), 20u);
  ByteBuffer memory;
  EXPECT_THAT(pack::ErrorOf([&] { dataset.NewSource()->Read(0, memory); }).what(),
              HasSubstr(List()[0]));
  EXPECT_NO_THROW(dataset.NewSource()->Read(8, memory));
  fs::remove(folder_ / "a/train.recindex");
  const Error error = pack::ErrorOf([&] { Dataset::Open(List()); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << error.what();
}

TEST_F(SpreadShards, ListsAreChecked) {
  std::vector<std::string> twice = List();
  twice.push_back(folder_ / "a/../a/" + Name(0));
  EXPECT_THAT(pack::ErrorOf([&] { Dataset::Open(twice); }).what(), HasSubstr("listed twice"));
  EXPECT_EQ(pack::ErrorOf([&] { Dataset::Open(std::vector<std::string>()); }).kind(),
            ErrorKind::kInvalidArgument);
  std::vector<std::string> missing = List();
  missing[1] += "x";
  EXPECT_THAT(pack::ErrorOf([&] { Dataset::Open(missing); }).what(), HasSubstr(missing[1]));
}

TEST_F(SpreadShards, WhatGoesAfterOpeningIsNamed) {
  const Dataset dataset = Dataset::Open(List());
  const auto source = dataset.NewSource();
  fs::remove(List()[1]);
  fs::resize_file(List()[2], fs::file_size(List()[2]) - 1);
  ByteBuffer memory;
  const Error gone = pack::ErrorOf([&] { source->Read(7, memory); });
  EXPECT_EQ(gone.kind(), ErrorKind::kNotFound);
  EXPECT_EQ(gone.place().path, List()[1]);
  const Error cut = pack::ErrorOf([&] { source->Read(19, memory); });
  EXPECT_EQ(cut.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(cut.place().path, List()[2]);
}

LoaderOptions OneBatch(std::vector<Field> fields) {
  LoaderOptions options = {.fields = std::move(fields), .batch_size = 20, .threads = 2};
  options.order.kind = OrderKind::kSequential;
  return options;
}

std::vector<int64_t> Labels(const Dataset& dataset, const std::string& feature) {
  Loader loader(dataset, OneBatch({NumbersField{.name = "label", .feature = feature}}));
  const auto batch = loader.Next();
  const auto* labels = batch->Data<int64_t>("label");
  return {labels, labels + batch->size()};
}

TEST(MappedFeatures, AreFoundUnderTheUsualNames) {
  const SmallSplit split(20);
  std::vector<int64_t> ordinals(20);
  std::iota(ordinals.begin(), ordinals.end(), 0);
  const Dataset plain = Dataset::Open(split.folder());
  EXPECT_EQ(Labels(plain, "image/class/label"), ordinals);
  EXPECT_THROW(Labels(plain, "label2"), Error);
  const Dataset mapped = Dataset::Open(
      split.folder(), {.fields = ParseFieldMap("label=nothing;label,image=image,label2=label")});
  EXPECT_EQ(Labels(mapped, "image/class/label"), ordinals);
  EXPECT_EQ(Labels(mapped, "label"), ordinals);
  EXPECT_EQ(Labels(mapped, "label2"), ordinals);
  EXPECT_EQ(Records(mapped), Records(plain));
  EXPECT_EQ(mapped.digest(), plain.digest());
  // A mapped feature replaces one of the same name.
  const Dataset swapped =
      Dataset::Open(split.folder(), {.fields = ParseFieldMap("text=image,image=text")});
  Loader loader(swapped, OneBatch({BytesField{.name = "text", .shape = {192}}}));
  Loader images(plain, OneBatch({BytesField{.name = "image", .shape = {192}}}));
  const auto text = loader.Next(), image = images.Next();
  EXPECT_EQ(std::memcmp(text->Raw("text"), image->Raw("image"), 20 * 192), 0);
}

TEST(MappedFeatures, LabelsMayCountFromAnotherNumber) {
  const SmallSplit split(20);
  const auto open = [&](const char* fields, int64_t offset) {
    return Dataset::Open(split.folder(), {.fields = ParseFieldMap(fields), .label_offset = offset});
  };
  EXPECT_EQ(Labels(open("", -3), "label")[4], 7);
  EXPECT_EQ(Labels(open("label=label", -3), "image/class/label")[4], 7);
  const Error below = pack::ErrorOf([&] { Labels(open("", 1), "label"); });
  EXPECT_EQ(below.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(below.place().path, split.shard(0));
  const Error none = pack::ErrorOf([&] { Labels(open("label=klass", 0), "label"); });
  EXPECT_EQ(none.kind(), ErrorKind::kNotFound);
  EXPECT_THAT(none.what(), HasSubstr("klass"));
  EXPECT_EQ(pack::ErrorOf([&] { Labels(open("label=text", 1), "label"); }).kind(),
            ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace recpack
