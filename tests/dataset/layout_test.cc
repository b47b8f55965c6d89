#include "recpack/dataset/layout.h"

#include <gtest/gtest.h>

#include "recpack/base/error.h"
#include "recpack/dataset/pack.h"
#include "recpack/dataset/survey.h"
#include "tests/base/temporary_folder.h"
#include "tests/dataset/fake_source.h"

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

TEST(LayoutTest, APatternLeavesSideFilesOut) {
  const TemporaryFolder folder;
  Touch(folder / "train-00000-of-00001.tfrecord");
  Touch(folder / "train.recindex");
  const Layout layout = FindLayout(folder / "train*");
  ASSERT_EQ(layout.splits.size(), 1u);
  EXPECT_EQ(layout.splits[0].shards.size(), 1u);
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

TEST(SurveyTest, FindsOutWhatTheManifestSays) {
  const TemporaryFolder folder;
  PackOptions options;
  options.out = folder / "out";
  options.sync = false;
  options.plan.shards = 3;
  const Manifest packed = Pack(FakeSource({{"test", 30}, {"train", 301}}), options).manifest;
  PosixFiles().Remove(folder / "out/manifest.json");
  const Manifest found = SurveyDataset(FindLayout(folder / "out"));
  ASSERT_EQ(found.splits.size(), 2u);
  EXPECT_EQ(found.splits[1].class_counts, packed.splits[1].class_counts);
  EXPECT_EQ(found.records(), packed.records());
  EXPECT_EQ(found.bytes(), packed.bytes());
  ASSERT_EQ(found.schema.size(), packed.schema.size());
  for (size_t i = 0; i < found.schema.size(); ++i) {
    EXPECT_EQ(found.schema[i].name, packed.schema[i].name);
    EXPECT_EQ(found.schema[i].length, packed.schema[i].length);
    EXPECT_EQ(found.schema[i].max_bytes, packed.schema[i].max_bytes);
  }
}

}  // namespace
}  // namespace recpack
