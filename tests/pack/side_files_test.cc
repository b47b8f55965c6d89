#include "src/pack/job/side_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "src/pack/check/repair.h"
#include "src/pack/check/verify.h"
#include "src/pack/sources/tfrecord/tfrecord.h"
#include "tests/base/temporary_folder.h"
#include "tests/pack/fake_source.h"
#include "tests/pack/source_testing.h"

namespace recpack::pack {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SideFilesTest : public ::testing::Test {
 protected:
  SideFilesTest() { source_.side_files = {{.name = "words.txt", .text = "one\ntwo\n"}}; }

  PackResult PackInto(const std::string& name, const Source& source, bool append = false) {
    PackOptions options;
    options.out = folder_ / name;
    options.sync = false;
    options.append = append;
    return Pack(source, options);
  }

  std::string Text(const std::string& name) {
    return std::string(AsText(ReadWholeFile(PosixFiles(), folder_ / name)));
  }

  TemporaryFolder folder_;
  FakeSource source_ = FakeSource({{"train", 50}});
};

TEST_F(SideFilesTest, AreWrittenListedAndVerified) {
  PackInto("out", source_);
  EXPECT_EQ(Text("out/words.txt"), "one\ntwo\n");
  const Manifest manifest = ReadManifest(PosixFiles(), folder_ / "out");
  ASSERT_THAT(manifest.files, SizeIs(1));
  EXPECT_EQ(manifest.files[0].file, "words.txt");
  EXPECT_EQ(manifest.files[0].bytes, 8u);
  EXPECT_EQ(ManifestFromJson(ManifestToJson(manifest), "m").files, manifest.files);
  EXPECT_THAT(Verify(FindLayout(folder_ / "out"), {}).findings, IsEmpty());
  for (const auto& [text, saying] :
       {std::pair("one\ntwo", "is 7 bytes long, the manifest says 8"),
        std::pair("one\ntwa\n", "the SHA-256 of the file differs from the manifest's")}) {
    MakeFile(folder_ / "out/words.txt", text);
    const auto findings = Verify(FindLayout(folder_ / "out"), {}).findings;
    ASSERT_THAT(findings, SizeIs(1)) << text;
    EXPECT_EQ(findings[0].path, folder_ / "out/words.txt");
    EXPECT_EQ(findings[0].reason, saying);
  }
  fs::remove(folder_ / "out/words.txt");
  EXPECT_THAT(Verify(FindLayout(folder_ / "out"), {}).findings, SizeIs(1));
}

TEST_F(SideFilesTest, AManifestThatNamesAPathIsRefused) {
  PackInto("out", source_);
  std::string text = Text("out/manifest.json");
  text.replace(text.find("words.txt"), 9, "../w.txt");
  EXPECT_THAT(ErrorOf([&] { ManifestFromJson(text, "m"); }).what(), HasSubstr("not a file beside"));
}

TEST_F(SideFilesTest, GoAlongWithRepairedShardsUnlessTheyAreDamaged) {
  PackInto("out", source_);
  EXPECT_THAT(Repair(FindLayout(folder_ / "out"), {.out = folder_ / "saved"}).lost, IsEmpty());
  EXPECT_EQ(Text("saved/words.txt"), "one\ntwo\n");
  EXPECT_THAT(Verify(FindLayout(folder_ / "saved"), {}).findings, IsEmpty());

  MakeFile(folder_ / "out/words.txt", "one\ntwo\nthree\n");
  const auto lost = Repair(FindLayout(folder_ / "out"), {.out = folder_ / "partly"}).lost;
  ASSERT_THAT(lost, SizeIs(1));
  EXPECT_THAT(lost[0].path, HasSubstr("words.txt"));
  EXPECT_FALSE(fs::exists(folder_ / "partly/words.txt"));
  EXPECT_THAT(Verify(FindLayout(folder_ / "partly"), {}).findings, IsEmpty());
  EXPECT_THAT(Text("partly/repair-ledger.jsonl"), HasSubstr("words.txt"));
}

TEST_F(SideFilesTest, GoAlongWhereShardsArePackedAnew) {
  PackInto("out", source_);
  PackInto("again", *OpenTfrecord({.path = folder_ / "out"}));
  EXPECT_EQ(Text("again/words.txt"), "one\ntwo\n");
  EXPECT_THAT(ReadManifest(PosixFiles(), folder_ / "again").files, SizeIs(1));
}

TEST_F(SideFilesTest, AnAppendNeedsTheSameOnes) {
  PackInto("out", source_);
  FakeSource more({{"train", 7}});
  more.salt = "more";
  PackInto("out", more, true);  // has no side files
  more.salt = "same";
  more.side_files = source_.side_files;
  PackInto("out", more, true);
  const Manifest manifest = ReadManifest(PosixFiles(), folder_ / "out");
  EXPECT_EQ(manifest.records(), 64u);
  EXPECT_THAT(manifest.files, SizeIs(1));
  more.salt = "other";
  more.side_files[0].text = "other\n";
  EXPECT_THAT(ErrorOf([&] { PackInto("out", more, true); }).what(),
              HasSubstr("words.txt of the source differs from that of the data set"));
  EXPECT_EQ(Text("out/words.txt"), "one\ntwo\n");
  more.side_files = source_.side_files;  // the failed append left nothing in the way
  EXPECT_EQ(PackInto("out", more, true).manifest.records(), 71u);
}

TEST_F(SideFilesTest, SourcesSayWhyTheyCannotBeAppended) {
  PackInto("out", source_);
  FakeSource more({{"train", 7}});
  more.why_not_appended = "numbers would not fit";
  EXPECT_THAT(ErrorOf([&] { PackInto("out", more, true); }).what(),
              HasSubstr("numbers would not fit"));
  PackInto("other", more);
}

TEST_F(SideFilesTest, OverwritingRemovesThem) {
  PackInto("out", source_);
  PackOptions options;
  options.out = folder_ / "out";
  options.sync = false;
  options.overwrite = true;
  Pack(FakeSource({{"train", 5}}), options);
  EXPECT_FALSE(fs::exists(folder_ / "out/words.txt"));
}

TEST_F(SideFilesTest, WhatAKilledPackerLeftIsRemoved) {
  PackInto("out", source_);
  fs::remove(folder_ / "out/manifest.json");
  fs::remove(folder_ / "out/words.txt");
  MakeFile(folder_ / "out/.recpack/words.txt.tmp-1", "on");
  PackInto("out", source_);
  EXPECT_FALSE(fs::exists(folder_ / "out/.recpack/words.txt.tmp-1"));
  EXPECT_EQ(Text("out/words.txt"), "one\ntwo\n");
}

}  // namespace
}  // namespace recpack::pack
