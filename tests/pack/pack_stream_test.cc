#include "src/pack/job/pack_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "recpack/base/error.h"
#include "src/pack/check/verify.h"
#include "src/shards/layout/layout.h"
#include "tests/base/faulty_files.h"
#include "tests/base/temporary_folder.h"

namespace recpack::pack {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

PackStreamOptions StreamOptions(const TemporaryFolder& folder) {
  PackStreamOptions options;
  options.out = folder / "out";
  options.shard_bytes = 1000;
  options.writer.digest = true;
  options.sync = false;
  return options;
}

void AddNumbers(PackStream& stream, int64_t begin, int64_t end) {
  ExampleBuilder features;
  for (int64_t number = begin; number < end; ++number) {
    features.Clear();
    features.AddInt64("label", number);
    stream.Add(features);
  }
}

// Adds one split of 200 records, from beginning to end.
void PackNumbers(const PackStreamOptions& options) {
  PackStream stream(options);
  stream.BeginSplit("train");
  AddNumbers(stream, 0, 200);
  stream.Finish();
}

// Names of the visible files.
std::vector<std::string> FilesOf(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

TEST(PackStreamTest, SplitsHaveShardsInTheOrderOfTheRecords) {
  const TemporaryFolder folder;
  PackStream stream(StreamOptions(folder));
  stream.BeginSplit("train");
  AddNumbers(stream, 0, 50);
  stream.BeginSplit("eval");
  AddNumbers(stream, 50, 60);
  EXPECT_EQ(stream.records(), 60);
  const Manifest manifest = stream.Finish();

  EXPECT_EQ(manifest.source_kind, "stream");
  ASSERT_EQ(manifest.splits.size(), 2);
  EXPECT_EQ(manifest.FindSplit("train")->records(), 50);
  EXPECT_EQ(manifest.FindSplit("train")->shards.size(), 2);
  EXPECT_EQ(manifest.FindSplit("eval")->class_counts.size(), 10);
  EXPECT_THAT(FilesOf(folder / "out"),
              ElementsAre("eval-00000-of-00001.tfrecord", "eval.recindex", "manifest.json",
                          "train-00000-of-00002.tfrecord", "train-00001-of-00002.tfrecord",
                          "train.recindex"));
  const VerifyResult verified = Verify(FindLayout(folder / "out"), {});
  EXPECT_THAT(verified.findings, IsEmpty());
  EXPECT_EQ(verified.records, 60);
}

TEST(PackStreamTest, IsVerifiedWhereASplitHasNoRecords) {
  const TemporaryFolder folder;
  PackStream stream(StreamOptions(folder));
  stream.BeginSplit("nothing");
  stream.BeginSplit("train");
  AddNumbers(stream, 0, 5);
  stream.BeginSplit("nothing more");
  stream.Finish();
  EXPECT_THAT(FilesOf(folder / "out"),
              ElementsAre("manifest.json", "train-00000-of-00001.tfrecord", "train.recindex"));
  EXPECT_THAT(Verify(FindLayout(folder / "out"), {}).findings, IsEmpty());
}

TEST(PackStreamTest, WhatIsNotFinishedLeavesNothing) {
  const TemporaryFolder folder;
  {
    PackStream stream(StreamOptions(folder));
    stream.BeginSplit("train");
    AddNumbers(stream, 0, 200);
  }
  EXPECT_THAT(FilesOf(folder / "out"), IsEmpty());
  EXPECT_THAT(FilesOf(folder / "out/.recpack"), ElementsAre("lock"));
}

TEST(PackStreamTest, ADuplicateNameLeavesTheRecordOut) {
  const TemporaryFolder folder;
  PackStream stream(StreamOptions(folder));
  stream.BeginSplit("train");
  ExampleBuilder features;
  features.AddInt64("a", 1);
  features.AddInt64("a", 2);
  EXPECT_THAT([&] { stream.Add(features); }, ThrowsMessage<Error>(HasSubstr("twice")));
  AddNumbers(stream, 0, 3);
  EXPECT_EQ(stream.Finish().records(), 3);
}

TEST(PackStreamTest, RefusesWhatCannotBe) {
  const TemporaryFolder folder;
  PackStreamOptions nothing = StreamOptions(folder);
  nothing.shard_bytes = 0;
  EXPECT_THAT([&] { PackStream stream(nothing); }, ThrowsMessage<Error>(HasSubstr("0 bytes")));
  PackStream stream(StreamOptions(folder));
  ExampleBuilder features;
  EXPECT_THAT([&] { stream.Add(features); }, ThrowsMessage<Error>(HasSubstr("without a split")));
  stream.BeginSplit("train");
  EXPECT_THAT([&] { stream.BeginSplit("train"); },
              ThrowsMessage<Error>(HasSubstr("already packed")));
  EXPECT_THAT([&] { stream.BeginSplit("a/b"); },
              ThrowsMessage<Error>(HasSubstr("name of a split")));
  EXPECT_THAT([&] { stream.Finish(); }, ThrowsMessage<Error>(HasSubstr("no items")));
}

TEST(PackStreamTest, RefusesAFolderThatWasPackedUnlessItMayOverwrite) {
  const TemporaryFolder folder;
  for (const int64_t records : {10, 20}) {
    PackStreamOptions options = StreamOptions(folder);
    options.overwrite = records == 20;
    PackStream stream(options);
    stream.BeginSplit("train");
    AddNumbers(stream, 0, records);
    stream.Finish();
    EXPECT_THAT([&] { PackStream again(StreamOptions(folder)); },
                ThrowsMessage<Error>(HasSubstr("another recpack")));
  }
  EXPECT_THAT([&] { PackStream again(StreamOptions(folder)); },
              ThrowsMessage<Error>(HasSubstr("belongs to another pack job")));
  EXPECT_EQ(Verify(FindLayout(folder / "out"), {}).records, 20);
}

TEST(PackStreamTest, AFullDiskLeavesNothing) {
  const TemporaryFolder folder;
  FaultyFiles files;
  PackStreamOptions options = StreamOptions(folder);
  options.files = &files;
  options.writer.buffer_bytes = 1;
  for (const int64_t room : {0, 500, 3000, 6000}) {
    files.room = room;
    EXPECT_THROW(PackNumbers(options), Error);
    EXPECT_THAT(FilesOf(folder / "out"), IsEmpty()) << room;
    EXPECT_THAT(FilesOf(folder / "out/.recpack"), ElementsAre("lock")) << room;
  }
}

TEST(PackStreamTest, WhateverCannotBeRenamedLeavesNothing) {
  const TemporaryFolder folder;
  FaultyFiles files;
  PackStreamOptions options = StreamOptions(folder);
  options.files = &files;
  for (const std::string name :
       {"plan.json", "train-00001-of-00007.tfrecord.recindex", "train-00001-of-00007.tfrecord.json",
        "train-00006-of-00007.tfrecord", "train.recindex", "manifest.json"}) {
    files.unrenamable = "/" + name;
    EXPECT_THROW(PackNumbers(options), Error) << name;
    EXPECT_THAT(FilesOf(folder / "out"), IsEmpty()) << name;
  }
}

// Records may come from the data set that is overwritten.
TEST(PackStreamTest, WhatIsOverwrittenStaysUntilAllRecordsCame) {
  const TemporaryFolder folder;
  PackStreamOptions options = StreamOptions(folder);
  for (const bool last : {false, true}) {
    PackStream stream(options);
    stream.BeginSplit("train");
    AddNumbers(stream, 0, last ? 20 : 200);
    if (options.overwrite) {
      EXPECT_EQ(Verify(FindLayout(folder / "out"), {}).records, 200);
    }
    stream.Finish();
    options.overwrite = true;
  }
  {
    PackStream stream(options);
    stream.BeginSplit("train");
    AddNumbers(stream, 0, 5);
  }  // destroyed without Finish()
  const VerifyResult verified = Verify(FindLayout(folder / "out"), {});
  EXPECT_THAT(verified.findings, IsEmpty());
  EXPECT_EQ(verified.records, 20);
  EXPECT_THAT(FilesOf(folder / "out"),
              ElementsAre("manifest.json", "train-00000-of-00001.tfrecord", "train.recindex"));
}

// A manifest without its shards must not remain.
TEST(PackStreamTest, WhatFailsBehindTheManifestLeavesNothing) {
  const TemporaryFolder folder;
  FaultyFiles files;
  PackStreamOptions options = StreamOptions(folder);
  options.files = &files;
  files.before_rename = [&](const std::string& to) {  // a folder that cannot be removed
    if (to.ends_with("/manifest.json")) fs::create_directories(folder / "out/.recpack/a.tmp/b");
  };
  EXPECT_THROW(PackNumbers(options), Error);
  EXPECT_THAT(FilesOf(folder / "out"), IsEmpty());
}

TEST(PackStreamTest, RefusesASplitWhoseNameIsNotUtf8) {
  const TemporaryFolder folder;
  PackStream stream(StreamOptions(folder));
  EXPECT_THAT([&] { stream.BeginSplit("tr\xe9s"); },
              ThrowsMessage<Error>(HasSubstr("name of a split")));
}

}  // namespace
}  // namespace recpack::pack
