#include "src/shards/manifest/manifest.h"

#include <gtest/gtest.h>

#include "recpack/base/error.h"
#include "src/base/format.h"
#include "tests/base/temporary_folder.h"

namespace recpack {
namespace {

Manifest Sample() {
  Manifest manifest;
  manifest.source_kind = "cifar10";
  manifest.created_by = "recpack 0";
  manifest.splits = {
      {.name = "train",
       .index = "train.recindex",
       .shards = {{.file = "a", .records = 2, .bytes = 30, .sha256 = Sha256Digest{0xab, 7}},
                  {.file = "b",
                   .records = 1,
                   .bytes = 12,
                   .compression = Compression::kGzip,
                   .sha256 = {}}},
       .class_counts = {{0, 2}, {7, 1}}}};
  manifest.schema = {
      {.name = "image", .kind = "bytes", .length = 1, .min_bytes = 5, .max_bytes = 9},
      {.name = "tags", .kind = "int64"}};
  manifest.class_names = {"cat", "dog"};
  manifest.settings = {{"from", "cifar10"}};
  manifest.skipped = {{.split = "train", .item = "x.jpg", .reason = "cut"}};
  return manifest;
}

TEST(ManifestTest, SurvivesItsJson) {
  const std::string text = ManifestToJson(Sample());
  const Manifest back = ManifestFromJson(text, "manifest.json");
  EXPECT_EQ(ManifestToJson(back), text);
  EXPECT_EQ(back.records(), 3u);
  EXPECT_EQ(back.bytes(), 42u);
  EXPECT_EQ(back.splits[0].class_counts.at(7), 1u);
  EXPECT_EQ(back.splits[0].shards[1].compression, Compression::kGzip);
  EXPECT_EQ(back.schema[1].length, -1);
}

TEST(ManifestTest, SurvivesItsFile) {
  const TemporaryFolder folder;
  Manifest manifest = Sample();
  for (uint64_t i = 0; i < 3000; ++i) {  // larger than the read and write buffers
    manifest.splits[0].shards.push_back(
        {.file = format("train-{:05}-of-03000", i), .records = i, .bytes = 2 * i});
  }
  WriteManifest(PosixFiles(), folder.path(), manifest);
  EXPECT_EQ(ManifestToJson(ReadManifest(PosixFiles(), folder.path())), ManifestToJson(manifest));
}

TEST(ManifestTest, ADigestThatIsNoneIsCorrupt) {
  for (const char* digest : {"ab", "zz", "ab07 "}) {
    std::string text = ManifestToJson(Sample());
    text.replace(text.find("ab07"), 4, digest);
    EXPECT_THROW(ManifestFromJson(text, "m"), Error) << digest;
  }
}

TEST(ManifestTest, ACompressionThatIsNoneIsCorrupt) {
  std::string text = ManifestToJson(Sample());
  text.replace(text.find("\"gzip\""), 6, "\"lzma\"");
  try {
    ManifestFromJson(text, "folder/manifest.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
    EXPECT_EQ(error.place().path, "folder/manifest.json");
    for (const char* word : {"'b'", "\"compression\"", "'lzma'"}) {
      EXPECT_NE(error.reason().find(word), std::string::npos) << word;
    }
  }
}

TEST(ManifestTest, EveryPrefixIsRefused) {
  const std::string text = ManifestToJson(Sample());
  for (size_t cut = 0; cut + 2 < text.size(); ++cut) {
    EXPECT_THROW(ManifestFromJson(text.substr(0, cut), "m"), Error) << cut;
  }
}

TEST(ManifestTest, RefusesAShardOutsideItsFolder) {
  std::string text = ManifestToJson(Sample());
  text.replace(text.find("\"a\""), 3, "\"../a\"");
  EXPECT_THROW(ManifestFromJson(text, "m"), Error);
}

TEST(ManifestTest, ANewerVersionIsUnsupported) {
  std::string text = ManifestToJson(Sample());
  text.replace(text.find("\"version\": 1"), 12, "\"version\": 9");
  try {
    ManifestFromJson(text, "m");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
  }
}

TEST(ManifestTest, ANewerVersionMaySayItsShardsOtherwise) {
  std::string text = ManifestToJson(Sample());
  text.replace(text.find("\"version\": 1"), 12, "\"version\": 9");
  text.replace(text.find("\"records\": 2"), 12, "\"count\": 2");
  try {
    ManifestFromJson(text, "m");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
  }
}

TEST(ManifestTest, AnotherJsonFileIsCorrupt) {
  for (const char* text : {"{}", "[]", "3", "{\"format\": \"x\", \"version\": 1}"}) {
    EXPECT_THROW(ManifestFromJson(text, "m"), Error) << text;
  }
}

// Ends within the limit of a test only if time grows with the number, not with its square.
TEST(ManifestTest, HoldsAsManyFeaturesClassesAndSkippedItemsAsAUserHas) {
  Manifest manifest = Sample();
  for (int i = 0; i < 300'000; ++i) {
    manifest.schema.push_back(
        {.name = "feature" + std::to_string(i), .kind = "int64", .length = 1});
    manifest.skipped.push_back({"train", std::to_string(i), "no picture"});
    manifest.splits[0].class_counts[i] = 1;
  }
  const std::string text = ManifestToJson(manifest);
  EXPECT_TRUE(ManifestToJson(ManifestFromJson(text, "m")) == text);
}

TEST(ManifestTest, ANameThatIsThereTwiceIsCorrupt) {
  for (const char* name : {"schema", "splits"}) {
    Manifest manifest = Sample();
    if (name == std::string_view("schema")) manifest.schema.push_back(manifest.schema.front());
    if (name == std::string_view("splits")) manifest.splits.push_back(manifest.splits.front());
    try {
      ManifestFromJson(ManifestToJson(manifest), "m");
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_NE(error.reason().find("twice"), std::string::npos) << error.reason();
    }
  }
}

// As if a range of bytes were lost: what is left is JSON, and its sums hold within each split.
TEST(ManifestTest, ASplitThatIsGoneIsCorrupt) {
  for (const bool all : {false, true}) {
    Manifest manifest = Sample();
    manifest.splits.push_back({.name = "eval",
                               .index = "",
                               .shards = {{.file = "c", .records = 4, .bytes = 50}},
                               .class_counts = {}});
    std::string text = ManifestToJson(manifest);
    ManifestFromJson(text, "m");
    const size_t begin = text.find("\"splits\": {") + 11;
    const size_t end = all ? text.find("\n },", begin) : text.find("\"eval\"");
    text.erase(begin, end - begin);
    try {
      ManifestFromJson(text, "m");
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
      EXPECT_NE(error.reason().find("says that the data set has 7 records"), std::string::npos)
          << error.reason();
    }
  }
}

TEST(ManifestTest, AFeatureThatIsNoObjectIsCorrupt) {
  std::string text = ManifestToJson(Sample());
  const size_t schema = text.find("\"schema\": {") + 11;
  text.insert(schema, "\"x\": 5, ");
  EXPECT_THROW(ManifestFromJson(text, "m"), Error);
}

TEST(ManifestTest, AClassThatIsNoNumberIsCorrupt) {
  std::string text = ManifestToJson(Sample());
  text.replace(text.find("\"7\""), 3, "\"7x\"");
  EXPECT_THROW(ManifestFromJson(text, "m"), Error);
}

}  // namespace
}  // namespace recpack
