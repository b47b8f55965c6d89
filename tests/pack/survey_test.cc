#include "src/pack/check/survey.h"

#include <gtest/gtest.h>

#include "recpack/base/error.h"
#include "recpack/base/file.h"
#include "src/pack/job/pack.h"
#include "tests/base/temporary_folder.h"
#include "tests/pack/fake_source.h"

namespace recpack::pack {
namespace {

class SurveyTest : public ::testing::Test {
 protected:
  SurveyTest() {
    PackOptions options;
    options.out = folder_ / "out";
    options.sync = false;
    options.plan.shards = 3;
    packed_ = Pack(FakeSource({{"test", 30}, {"train", 901}}), options).manifest;
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
  EXPECT_EQ(BytesToSurvey({layout}), 0u);
  const Survey survey = SurveyDataset({layout});
  EXPECT_FALSE(survey.classes_counted);
  ExpectAsPacked(survey.manifest, false);
  EXPECT_THROW(SurveyDataset({layout}, {.classes = true}), Error);
}

TEST_F(SurveyTest, ReadsAllToCountTheClasses) {
  uint64_t read = 0, total = 0;
  const SurveyOptions options{
      .threads = 1, .classes = true, .progress = [&](uint64_t bytes, uint64_t of) {
        EXPECT_GE(bytes, read);
        read = bytes;
        total = of;
      }};
  const Survey survey = SurveyDataset({FindLayout(folder_ / "out")}, options);
  EXPECT_TRUE(survey.classes_counted);
  ExpectAsPacked(survey.manifest, true);
  EXPECT_EQ(read, packed_.bytes());
  EXPECT_EQ(total, packed_.bytes());
}

TEST_F(SurveyTest, ShardsThatNoIndexHasAreRead) {
  const std::string out = folder_ / "out/";
  const auto train = packed_.FindSplit("train")->shards;
  PosixFiles().Remove(out + train[2].file);
  WriteFileAtomically(PosixFiles(), out + "train-00003-of-00004.tfrecord",
                      ReadWholeFile(PosixFiles(), out + train[0].file), false);
  const Layout layout = FindLayout(folder_ / "out");
  EXPECT_EQ(BytesToSurvey({layout}), train[0].bytes);
  const Survey survey = SurveyDataset({layout});
  EXPECT_FALSE(survey.classes_counted);
  const ManifestSplit& found = *survey.manifest.FindSplit("train");
  ASSERT_EQ(found.shards.size(), 3u);
  EXPECT_EQ(found.records(), 2 * train[0].records + train[1].records);
  EXPECT_TRUE(found.class_counts.empty());  // not those of one shard
}

TEST_F(SurveyTest, ADamagedIndexIsLeftAside) {
  WriteFileAtomically(PosixFiles(), folder_ / "out/train.recindex", AsBytes("damaged"), false);
  const Layout layout = FindLayout(folder_ / "out");
  EXPECT_EQ(BytesToSurvey({layout}), packed_.FindSplit("train")->bytes());
  const Survey survey = SurveyDataset({layout});
  EXPECT_FALSE(survey.classes_counted);  // of test
  EXPECT_EQ(survey.manifest.FindSplit("train")->class_counts,
            packed_.FindSplit("train")->class_counts);
  EXPECT_TRUE(survey.manifest.FindSplit("test")->class_counts.empty());
}

TEST_F(SurveyTest, JoinsManifestsAndShardsOfSeveralLayouts) {
  WriteManifest(PosixFiles(), folder_ / "out", packed_);
  const std::string shard = folder_ / "out/" + packed_.FindSplit("train")->shards[0].file;
  WriteFileAtomically(PosixFiles(), folder_ / "more.tfrecord", ReadWholeFile(PosixFiles(), shard),
                      false);
  const std::vector<Layout> layouts = {FindLayout(folder_ / "out"),
                                       FindLayout(folder_ / "more.tfrecord")};
  const Survey survey = SurveyDataset(layouts);
  EXPECT_EQ(survey.manifest.records(),
            packed_.records() + packed_.FindSplit("train")->shards[0].records);
  EXPECT_EQ(survey.manifest.FindSplit("test")->class_counts,
            packed_.FindSplit("test")->class_counts);
  EXPECT_EQ(survey.manifest.class_names, packed_.class_names);
  EXPECT_EQ(survey.manifest.schema.size(), packed_.schema.size());
}

TEST_F(SurveyTest, CountsOfAPartOfASplitAreLeftOut) {
  WriteManifest(PosixFiles(), folder_ / "out", packed_);
  PackOptions options;
  options.out = folder_ / "more";
  options.sync = false;
  Pack(FakeSource({{"train", 40}}), options);
  PosixFiles().Remove(folder_ / "more/manifest.json");  // its index does not count classes
  const std::vector<Layout> layouts = {FindLayout(folder_ / "out"), FindLayout(folder_ / "more")};
  const Survey survey = SurveyDataset(layouts);
  EXPECT_FALSE(survey.classes_counted);
  EXPECT_EQ(survey.manifest.FindSplit("train")->records(), 941u);
  EXPECT_TRUE(survey.manifest.FindSplit("train")->class_counts.empty());
  EXPECT_FALSE(survey.manifest.FindSplit("test")->class_counts.empty());
  EXPECT_EQ(SurveyDataset(layouts, {.classes = true}).manifest.FindSplit("train")->class_counts,
            (std::map<int64_t, uint64_t>{{0, 471}, {1, 470}}));
}

TEST_F(SurveyTest, MappedRecordsSpeakForThemselves) {
  WriteManifest(PosixFiles(), folder_ / "out", packed_);
  const std::vector<Layout> layouts = {FindLayout(folder_ / "out")};
  SurveyOptions options{
      .map = [](ExampleView& record) { record.Alias(*record.begin(), "another"); }};
  const Survey survey = SurveyDataset(layouts, options);
  EXPECT_FALSE(survey.classes_counted);
  EXPECT_EQ(survey.manifest.records(), packed_.records());
  EXPECT_EQ(survey.manifest.schema.size(), packed_.schema.size() + 1);
  options.classes = true;
  ExpectAsPacked(
      {.splits = SurveyDataset(layouts, options).manifest.splits, .schema = packed_.schema}, true);
}

TEST_F(SurveyTest, AnErrorOfTheMapNamesTheShard) {
  const SurveyOptions options{
      .map = [](ExampleView&) { throw Error(ErrorKind::kNotFound, "has no feature x"); }};
  try {
    SurveyDataset({FindLayout(folder_ / "out")}, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
    // Any of them: they are read side by side.
    EXPECT_NE(error.place().path.find("out/test-0000"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace recpack::pack
