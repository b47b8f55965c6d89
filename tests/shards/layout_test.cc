#include "src/shards/layout/layout.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "recpack/base/error.h"
#include "tests/base/temporary_folder.h"

namespace recpack {
namespace {

void Touch(const std::string& path) { WriteFileAtomically(PosixFiles(), path, {}, false); }

TEST(LayoutTest, TellsSplitsByTheNamesOfShards) {
  const TemporaryFolder folder;
  for (const char* name :
       {"train-00001-of-00002.tfrecord", "train-00000-of-00002.tfrecord",
        "train-append1-00000-of-00001.tfrecord", "test-00000-of-00001", "x.tfrecord",
        "train.recindex", "x.tfrecord.idx", "notes.txt", ".hidden.tfrecord"}) {
    Touch(folder / name);
  }
  const Layout layout = FindLayout(folder.path());
  ASSERT_EQ(layout.splits.size(), 3u);
  EXPECT_EQ(layout.splits[0].name, "all");
  EXPECT_EQ(layout.splits[1].name, "test");
  EXPECT_EQ(layout.splits[2].name, "train");
  ASSERT_EQ(layout.splits[2].shards.size(), 3u);
  EXPECT_EQ(layout.splits[2].shards[0], folder / "train-00000-of-00002.tfrecord");
  EXPECT_EQ(layout.splits[2].index, folder / "train.recindex");
  EXPECT_EQ(FindLayout(folder.path() + "/").splits.size(), 3u);
}

std::vector<std::string> SplitsOf(const std::vector<std::string>& names, std::string* notice) {
  const TemporaryFolder folder;
  for (const std::string& name : names) Touch(folder / name);
  const Layout layout = FindLayout(folder.path());
  std::vector<std::string> splits;
  for (const LayoutSplit& split : layout.splits) splits.push_back(split.name);
  notice->clear();
  for (const std::string& one : layout.notices) *notice += one;
  return splits;
}

// Names as written by common TensorFlow scripts.
TEST(LayoutTest, TellsSplitsByTheWordsInNames) {
  std::string notice;
  using Names = std::vector<std::string>;
  EXPECT_EQ(SplitsOf({"train.tfrecords", "validation.tfrecords", "eval.tfrecords"}, &notice),
            (Names{"eval", "train", "validation"}));
  EXPECT_EQ(notice, "");
  EXPECT_EQ(SplitsOf({"cifar10_train_01.tfrecord", "cifar10_train_02.tfrecord",
                      "cifar10-test.tfrecord.gz"},
                     &notice),
            (Names{"test", "train"}));
  EXPECT_EQ(notice, "");
  // "constrain" and "latest" contain split words but are not split words.
  EXPECT_EQ(SplitsOf({"constrain_1.tfrecord", "constrain_2.tfrecord"}, &notice), (Names{"all"}));
  EXPECT_EQ(notice, "");
}

// The TF Object Detection API, TFDS and Kaggle's data sets.
TEST(LayoutTest, TellsSplitsByTheNamesOfOtherPrograms) {
  std::string notice;
  using Names = std::vector<std::string>;
  EXPECT_EQ(SplitsOf({"train.record", "val.record", "notes.recording", "x.records.txt"}, &notice),
            (Names{"train", "val"}));
  EXPECT_EQ(
      SplitsOf({"train.record-00000-of-00010", "mnist-test.tfrecord-00000-of-00001"}, &notice),
      (Names{"mnist-test", "train"}));
  EXPECT_EQ(SplitsOf({"train-00000-of-00002.tfrec", "test-00000-of-00001.record",
                      "validation-00000-of-00128"},
                     &notice),
            (Names{"test", "train", "validation"}));
  EXPECT_EQ(SplitsOf({"train.tfrec", "test.record.gz"}, &notice), (Names{"test", "train"}));
  EXPECT_EQ(notice, "");
  EXPECT_EQ(SplitsOf({"a.record", "b.record"}, &notice), (Names{"all"}));
  EXPECT_NE(notice, "");
}

TEST(LayoutTest, SaysWhereNamesLeaveTheSplitOpen) {
  std::string notice;
  using Names = std::vector<std::string>;
  EXPECT_EQ(SplitsOf({"train.tfrecord", "other.tfrecord"}, &notice), (Names{"all", "train"}));
  EXPECT_NE(notice.find("other.tfrecord"), std::string::npos) << notice;
  EXPECT_EQ(SplitsOf({"photos.tfrecord", "unseen.tfrecord"}, &notice), (Names{"all"}));
  EXPECT_NE(notice.find("the 2 file names"), std::string::npos) << notice;
  SplitsOf({"train_test.tfrecord", "more.tfrecord"}, &notice);
  EXPECT_NE(notice, "");
}

TEST(LayoutTest, APatternLeavesSideFilesOut) {
  const TemporaryFolder folder;
  Touch(folder / "train-00000-of-00001.tfrecord");
  Touch(folder / "train.recindex");
  const Layout layout = FindLayout(folder / "train*");
  ASSERT_EQ(layout.splits.size(), 1u);
  EXPECT_EQ(layout.splits[0].shards.size(), 1u);
}

TEST(LayoutTest, PartsOfAPatternMayOverlap) {
  const TemporaryFolder folder;
  Touch(folder / "train-00000-of-00002.tfrecord");
  Touch(folder / "train-00001-of-00002.tfrecord");
  const Layout layout = FindLayout(folder / "{train*,*1-of*}");
  ASSERT_EQ(layout.splits.size(), 1u);
  EXPECT_EQ(layout.splits[0].shards.size(), 2u);
}

// Otherwise the contents of an unreadable folder would be missing silently.
TEST(LayoutTest, AFolderOfAPatternThatCannotBeReadIsAnError) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "a");
  Touch(folder / "a/x.tfrecord");
  EXPECT_EQ(FindLayout(folder / "{a,nothing}/*.tfrecord").splits.size(), 1u);
  std::filesystem::create_symlink("b", folder / "b");  // loop
  try {
    FindLayout(folder / "{a,b}/*.tfrecord");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kIo);
    EXPECT_EQ(error.place().path, folder / "b");
  }
  EXPECT_EQ(FindLayout(folder / "a/*.tfrecord").splits.size(), 1u);
}

TEST(LayoutTest, LinksInCirclesAreNoMissingFiles) {
  const TemporaryFolder folder;
  for (const std::string name : {"manifest.json", "train-00001-of-00002.tfrecord"}) {
    std::filesystem::create_directory(folder / name);
    Touch(folder / name + "/train-00000-of-00002.tfrecord");
    std::filesystem::create_symlink(name, folder / name + "/" + name);
    try {
      FindLayout(folder / name);
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kIo);
      EXPECT_EQ(error.place().path, folder / name + "/" + name);
    }
  }
}

TEST(LayoutTest, ARangeMayEndAtTheLargestNumber) {
  const TemporaryFolder folder;
  const Layout layout =
      FindLayout(folder / "x-{18446744073709551614..18446744073709551615}.tfrecord");
  ASSERT_EQ(layout.splits.size(), 1u);
  ASSERT_EQ(layout.splits[0].shards.size(), 2u);
  EXPECT_EQ(layout.splits[0].shards[1], folder / "x-18446744073709551615.tfrecord");
  EXPECT_THROW(FindLayout(folder / "x-{0..18446744073709551615}.tfrecord"), Error);
}

TEST(LayoutTest, SaysWhatIsMissing) {
  const TemporaryFolder folder;
  EXPECT_THROW(FindLayout(folder.path()), Error);
  EXPECT_THROW(FindLayout(folder / "nothing"), Error);
  Touch(folder / "a-00000-of-00001.tfrecord");
  try {
    OnlySplit(FindLayout(folder.path()), "b");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
    EXPECT_EQ(error.advice(), "choose one of: a");
  }
}

}  // namespace
}  // namespace recpack
