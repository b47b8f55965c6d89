#include "src/shards/layout/layout.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "recpack/base/error.h"
#include "src/pack/check/survey.h"
#include "src/pack/job/pack.h"
#include "tests/base/temporary_folder.h"
#include "tests/pack/fake_source.h"

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

TEST(LayoutTest, SaysWhereNamesLeaveTheSplitOpen) {
  std::string notice;
  using Names = std::vector<std::string>;
  EXPECT_EQ(SplitsOf({"train.tfrecord", "other.tfrecord"}, &notice), (Names{"all", "train"}));
  EXPECT_NE(notice.find("other.tfrecord"), std::string::npos) << notice;
  EXPECT_EQ(SplitsOf({"photos.tfrecord", "unseen.tfrecord"}, &notice), (Names{"all"}));
  EXPECT_NE(notice.find("2 files"), std::string::npos) << notice;
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

class SurveyTest : public ::testing::Test {
 protected:
  SurveyTest() {
    pack::PackOptions options;
    options.out = folder_ / "out";
    options.sync = false;
    options.plan.shards = 3;
    packed_ = pack::Pack(pack::FakeSource({{"test", 30}, {"train", 901}}), options).manifest;
    PosixFiles().Remove(folder_ / "out/manifest.json");
  }

  void ExpectAsPacked(const Manifest& found, bool classes) {
    ASSERT_EQ(found.splits.size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
      const ManifestSplit &split = found.splits[i], &packed = packed_.splits[i];
      EXPECT_EQ(split.class_counts, classes ? packed.class_counts : decltype(split.class_counts)());
      ASSERT_EQ(split.shards.size(), packed.shards.size());
      for (size_t k = 0; k < split.shards.size(); ++k) {
        EXPECT_EQ(split.shards[k].file, packed.shards[k].file);
        EXPECT_EQ(split.shards[k].records, packed.shards[k].records);
        EXPECT_EQ(split.shards[k].bytes, packed.shards[k].bytes);
      }
    }
    ASSERT_EQ(found.schema.size(), packed_.schema.size());
    for (size_t i = 0; i < found.schema.size(); ++i) {
      EXPECT_EQ(found.schema[i].name, packed_.schema[i].name);
      EXPECT_EQ(found.schema[i].length, packed_.schema[i].length);
      EXPECT_EQ(found.schema[i].max_bytes, packed_.schema[i].max_bytes);
    }
  }

  // The last record, which is not in a sample of the first ones.
  void DamageTheEnd(const std::string& shard) {
    const std::string path = folder_ / "out/" + shard;
    ByteBuffer bytes = ReadWholeFile(PosixFiles(), path);
    bytes[bytes.size() - 10] ^= 1;
    WriteFileAtomically(PosixFiles(), path, bytes, false);
  }

  TemporaryFolder folder_;
  Manifest packed_;
};

TEST_F(SurveyTest, ByTheIndexReadsTheFirstRecordsOnly) {
  DamageTheEnd(packed_.FindSplit("train")->shards[0].file);
  const Layout layout = FindLayout(folder_ / "out");
  EXPECT_EQ(pack::BytesToSurvey(layout), 0u);
  const pack::Survey survey = pack::SurveyDataset(layout);
  EXPECT_FALSE(survey.classes_counted);
  ExpectAsPacked(survey.manifest, false);
  EXPECT_THROW(pack::SurveyDataset(layout, {.classes = true}), Error);
}

TEST_F(SurveyTest, ReadsAllToCountTheClasses) {
  uint64_t read = 0, total = 0;
  const pack::SurveyOptions options{
      .threads = 1, .classes = true, .progress = [&](uint64_t bytes, uint64_t of) {
        EXPECT_GE(bytes, read);
        read = bytes;
        total = of;
      }};
  const pack::Survey survey = pack::SurveyDataset(FindLayout(folder_ / "out"), options);
  EXPECT_TRUE(survey.classes_counted);
  ExpectAsPacked(survey.manifest, true);
  EXPECT_EQ(read, packed_.bytes());
  EXPECT_EQ(total, packed_.bytes());
}

TEST_F(SurveyTest, AnIndexThatDoesNotFitIsLeftAside) {
  const std::string shard = folder_ / "out/" + packed_.FindSplit("train")->shards[2].file;
  PosixFiles().Remove(shard);
  const Layout layout = FindLayout(folder_ / "out");
  const pack::Survey survey = pack::SurveyDataset(layout);
  EXPECT_FALSE(survey.classes_counted);  // of test
  EXPECT_EQ(survey.manifest.FindSplit("train")->shards.size(), 2u);
  EXPECT_FALSE(survey.manifest.FindSplit("train")->class_counts.empty());
  EXPECT_TRUE(survey.manifest.FindSplit("test")->class_counts.empty());
  EXPECT_GT(pack::BytesToSurvey(layout), 0u);
}

}  // namespace
}  // namespace recpack
