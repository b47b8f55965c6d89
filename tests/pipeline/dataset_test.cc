#include "recpack/pipeline/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "recpack/dataset/build_index.h"
#include "tests/base/temporary_folder.h"
#include "tests/pipeline/small_split.h"

namespace recpack {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

template <typename Call>
Error ErrorOf(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  throw std::logic_error("no error came");
}

std::vector<ByteBuffer> Records(const Dataset& dataset) {
  const auto source = dataset.NewSource();
  ByteBuffer memory;
  std::vector<ByteBuffer> records;
  for (uint64_t id = 0; id < dataset.records(); ++id) {
    const ByteView record = source->Read(id, memory);
    records.emplace_back(record.begin(), record.end());
  }
  return records;
}

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
  EXPECT_EQ(dataset.PlaceOf(7).path, folder_ / "b/" + Name(1));
  std::vector<std::string> turned = List();
  std::swap(turned[0], turned[2]);
  EXPECT_NE(Records(Dataset::Open(turned)), expected_);
  EXPECT_NE(Dataset::Open(turned).digest(), dataset.digest());
  EXPECT_EQ(Dataset::Open(folder_ / "*/train-*").records(), 20u);
  EXPECT_EQ(Dataset::Open(folder_ / "*/train-{00000..00001}-of-*").records(), 13u);
}

TEST_F(SpreadShards, TakeWhatIndexesBesideThemKnow) {
  BuildIndexes(FindLayout(folder_ / "a"), {});
  // What is indexed is not scanned: a length that is wrong is only found when it is read.
  ByteBuffer bytes = ReadWholeFile(PosixFiles(), List()[0]);
  bytes[0] ^= 1;
  WriteFileAtomically(PosixFiles(), List()[0], bytes, false);
  const Dataset dataset = Dataset::Open(List());
  EXPECT_EQ(dataset.records(), 20u);
  ByteBuffer memory;
  EXPECT_THAT(ErrorOf([&] { dataset.NewSource()->Read(0, memory); }).what(), HasSubstr(List()[0]));
  EXPECT_NO_THROW(dataset.NewSource()->Read(8, memory));
  fs::remove(folder_ / "a/train.recindex");
  EXPECT_EQ(ErrorOf([&] { Dataset::Open(List()); }).kind(), ErrorKind::kCorrupt);
}

TEST_F(SpreadShards, ListsAreChecked) {
  std::vector<std::string> twice = List();
  twice.push_back(folder_ / "a/../a/" + Name(0));
  EXPECT_THAT(ErrorOf([&] { Dataset::Open(twice); }).what(), HasSubstr("listed twice"));
  EXPECT_EQ(ErrorOf([&] { Dataset::Open(std::vector<std::string>()); }).kind(),
            ErrorKind::kInvalidArgument);
  std::vector<std::string> missing = List();
  missing[1] += "x";
  EXPECT_THAT(ErrorOf([&] { Dataset::Open(missing); }).what(), HasSubstr(missing[1]));
}

TEST_F(SpreadShards, WhatGoesAfterOpeningIsNamed) {
  const Dataset dataset = Dataset::Open(List());
  const auto source = dataset.NewSource();
  fs::remove(List()[1]);
  fs::resize_file(List()[2], fs::file_size(List()[2]) - 1);
  ByteBuffer memory;
  const Error gone = ErrorOf([&] { source->Read(7, memory); });
  EXPECT_EQ(gone.kind(), ErrorKind::kNotFound);
  EXPECT_EQ(gone.place().path, List()[1]);
  const Error cut = ErrorOf([&] { source->Read(19, memory); });
  EXPECT_EQ(cut.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(cut.place().path, List()[2]);
}

}  // namespace
}  // namespace recpack
