#include "src/pack/sources/tfrecord/tfrecord.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "recpack/image/encode.h"
#include "recpack/record/crc32c.h"
#include "recpack/record/index.h"
#include "recpack/record/writer.h"
#include "src/base/format.h"
#include "src/pack/job/pack.h"
#include "src/pack/open/recognise.h"
#include "tests/base/temporary_folder.h"
#include "tests/pack/source_testing.h"

namespace recpack::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Serialised(ExampleBuilder& builder) {
  std::string record(builder.ByteSize(), '\0');
  builder.SerializeTo(reinterpret_cast<uint8_t*>(record.data()));
  return record;
}

std::string LabelledRecord(int64_t label, std::string_view text) {
  ExampleBuilder builder;
  builder.AddInt64("label", label);
  builder.AddBytes("text", AsBytes(text));
  builder.AddFloat("weight", 0.5f * static_cast<float>(label));
  return Serialised(builder);
}

class TfrecordSourceTest : public ::testing::Test {
 protected:
  ShardEntries Write(const std::string& name, const std::vector<std::string>& records,
                     Compression compression = Compression::kNone) {
    RecordWriter writer(PosixFiles().Create(folder_ / name), {.compression = compression});
    for (const std::string& record : records) writer.Write(AsBytes(record));
    writer.Finish(false);
    ShardEntries entries = writer.entries();
    entries.name = name;
    entries.file_bytes = std::filesystem::file_size(folder_ / name);
    return entries;
  }

  std::unique_ptr<Source> Open(TfrecordOptions options = {}) {
    if (options.path.empty()) options.path = folder_.path();
    return OpenTfrecord(options);
  }

  static std::string Payload(const Source& source, size_t split, uint64_t item) {
    Sample sample;
    const auto reader = source.NewReader();
    reader->Read(split, item, sample);
    return std::string(AsText(sample.payload));
  }

  void Damage(const std::string& name, size_t offset) {
    std::string bytes(AsText(ReadWholeFile(PosixFiles(), folder_ / name)));
    bytes[offset] ^= 1;
    MakeFile(folder_ / name, bytes);
  }

  TemporaryFolder folder_;
};

TEST_F(TfrecordSourceTest, PassesPayloadsOnInTheOrderOfShards) {
  std::vector<std::string> first, second;
  for (int i = 0; i < 150; ++i) first.push_back(LabelledRecord(i, std::string(i, 'x')));
  for (int i = 150; i < 160; ++i) second.push_back(LabelledRecord(i, "y"));
  Write("train-00001-of-00002.tfrecord", second);
  Write("train-00000-of-00002.tfrecord", first);
  Write("eval-00000-of-00001.tfrecord", {LabelledRecord(9, "z")});
  const auto source = Open();
  ASSERT_EQ(source->splits().size(), 2u);
  EXPECT_EQ(source->splits()[0].name, "eval");
  EXPECT_EQ(source->splits()[1].items, 160u);
  for (const int i : {0, 63, 64, 127, 128, 149, 150, 159}) {
    EXPECT_EQ(Payload(*source, 1, i), i < 150 ? first[i] : second[i - 150]) << i;
    EXPECT_EQ(ReadItem(*source, 1, i).label, i);
  }
  EXPECT_EQ(source->ItemBytes(1, 3), first[3].size());
  EXPECT_THAT(source->ItemName(1, 151), HasSubstr("train-00001-of-00002.tfrecord record 1"));
}

TEST_F(TfrecordSourceTest, CompressedShardsAreReadAtRandomToo) {
  const std::vector<std::string> records = {LabelledRecord(1, "a"), LabelledRecord(2, "b"), "c"};
  Write("a-00000-of-00001.tfrecord", records);
  Write("b-00000-of-00001.tfrecord.gz", records, Compression::kGzip);
  Write("c-00000-of-00002.tfrecord", records, Compression::kZlib);
  Write("c-00001-of-00002.tfrecord", records, Compression::kZlib);
  const TemporaryFolder work;
  const auto source = Open({.work_folder = work.path(), .threads = 3});
  ASSERT_EQ(source->splits().size(), 3u);
  for (size_t split = 0; split < 3; ++split) {
    for (uint64_t i = 0; i < source->splits()[split].items; ++i) {
      EXPECT_EQ(Payload(*source, split, i), records[i % 3]);
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(work.path()));
}

// The work folder does not exist, so that unpacking fails.
TEST_F(TfrecordSourceTest, FlushPointsOfTheIndexTakeThePlaceOfUnpacking) {
  std::vector<std::string> records;
  for (int i = 0; i < 200; ++i) records.push_back(LabelledRecord(i, std::string(20'000, 'a')));
  const std::span all(records);
  IndexWriter index(PosixFiles().Create(folder_ / "a.recindex"));
  index.AddShard(
      Write("a-00000-of-00003.tfrecord", {all.begin(), all.begin() + 150}, Compression::kGzip));
  index.AddShard(Write("a-00001-of-00003.tfrecord", {all.begin() + 150, all.begin() + 160}));
  index.AddShard(
      Write("a-00002-of-00003.tfrecord", {all.begin() + 160, all.end()}, Compression::kZlib));
  index.Finish(false);
  const std::string none = folder_ / "no/folder";
  const auto source = Open({.work_folder = none, .threads = 2});
  ASSERT_EQ(source->splits()[0].items, 200u);
  for (const int i : {0, 1, 70, 149, 150, 159, 160, 199, 3}) {
    EXPECT_EQ(Payload(*source, 0, i), records[i]) << i;
  }
  const auto filtered = Open({.filters = {"label=155", "label!=3"}, .work_folder = none});
  EXPECT_EQ(ReadItem(*filtered, 0, 0).label, 155);
  const auto last = Open({.filters = {"label=198"}, .work_folder = none});
  EXPECT_EQ(ReadItem(*last, 0, 0).label, 198);

  EXPECT_EQ(ErrorOf([&] { Open({.work_folder = none, .in_order = false}); }).kind(),
            ErrorKind::kNotFound);
  const auto shuffled = Open({.work_folder = folder_.path(), .in_order = false});
  EXPECT_EQ(Payload(*shuffled, 0, 199), records[199]);
  std::filesystem::remove(folder_ / "a.recindex");
  EXPECT_EQ(ErrorOf([&] { Open({.work_folder = none}); }).kind(), ErrorKind::kNotFound);
}

TEST_F(TfrecordSourceTest, DamageBehindAFlushPointIsFoundWithItsPlace) {
  IndexWriter index(PosixFiles().Create(folder_ / "a.recindex"));
  index.AddShard(Write("a-00000-of-00001.tfrecord", {"one", "two", "three"}, Compression::kGzip));
  index.Finish(false);
  const auto source = Open();
  Damage("a-00000-of-00001.tfrecord", 18);
  const Error error = ErrorOf([&] { Payload(*source, 0, 0); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(error.place().path, folder_ / "a-00000-of-00001.tfrecord");
  EXPECT_EQ(error.place().ordinal, 0u);
}

TEST_F(TfrecordSourceTest, PayloadsNeedNotBeExamples) {
  Write("a.tfrecord", {"\xff\xff no example", LabelledRecord(1, "a")});
  const auto source = Open();
  EXPECT_EQ(source->splits()[0].name, "all");
  EXPECT_EQ(Payload(*source, 0, 0), "\xff\xff no example");
  EXPECT_THAT(source->Notices(), ElementsAre(HasSubstr("1 records are not tf.train.Examples")));
  const Error unfiltered = ErrorOf([&] { Open({.filters = {"label=1"}}); });
  EXPECT_EQ(unfiltered.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(unfiltered.place().ordinal, 0u);
  const auto changing = Open({.label_offset = 1});
  EXPECT_EQ(ErrorOf([&] { ReadItem(*changing, 0, 0); }).kind(), ErrorKind::kCorrupt);
}

// An empty tf.train.Example is one of two bytes.
TEST_F(TfrecordSourceTest, EmptyRecordsArePackedAsTheyAre) {
  Write("a.tfrecord", {"", "x", ""});
  PackOptions options;
  options.out = folder_ / "out";
  options.sync = false;
  Pack(*Open({.path = folder_ / "a.tfrecord"}), options);
  EXPECT_EQ(ReadWholeFile(PosixFiles(), folder_ / "out/all-00000-of-00001.tfrecord"),
            ReadWholeFile(PosixFiles(), folder_ / "a.tfrecord"));
}

TEST_F(TfrecordSourceTest, TakesTheIndexBesideTheShardsAndRefusesAStaleOne) {
  ShardEntries entries = Write("a-00000-of-00001.tfrecord", {"one", "three"});
  const auto write_index = [&] {
    IndexWriter writer(PosixFiles().Create(folder_ / "a.recindex"));
    writer.AddShard(entries);
    writer.Finish(false);
  };
  write_index();
  EXPECT_EQ(Payload(*Open(), 0, 1), "three");
  Write("a-00000-of-00001.tfrecord", {"other", "records", "now"});  // The index is stale.
  EXPECT_EQ(ErrorOf([&] { Open(); }).kind(), ErrorKind::kCorrupt);
  MakeFile(folder_ / "a.recindex", "no index");
  EXPECT_EQ(Payload(*Open(), 0, 2), "now");
}

TEST_F(TfrecordSourceTest, DamageIsFoundWithItsPlace) {
  Write("a.tfrecord", {"one", "two", "three"});
  const auto source = Open();
  Damage("a.tfrecord", 19 + 12);  // the second record's payload
  const Error error = ErrorOf([&] { Payload(*source, 0, 1); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(error.place().path, folder_ / "a.tfrecord");
  EXPECT_EQ(error.place().offset, 19u);
  EXPECT_EQ(error.place().ordinal, 1u);
  EXPECT_EQ(Payload(*source, 0, 2), "three");
}

// A whole record with CRCs that hold, so that the index alone knows better.
TEST_F(TfrecordSourceTest, ARecordCopiedOverAnotherIsFoundByTheIndex) {
  const std::vector<std::string> records = {LabelledRecord(1, "a"), LabelledRecord(2, "b"),
                                            LabelledRecord(1, "c")};
  for (const Compression compression : {Compression::kNone, Compression::kGzip}) {
    const TemporaryFolder work;
    ShardEntries entries =
        Write("a-00000-of-00001.tfrecord", {records[0], records[0], records[2]}, compression);
    entries.crcs[1] = MaskCrc(Crc32c(AsBytes(records[1])));
    entries.flush_points.clear();  // unpacked as a whole
    entries.check = 0;
    IndexWriter index(PosixFiles().Create(folder_ / "a.recindex"));
    index.AddShard(entries);
    index.Finish(false);
    for (const std::vector<std::string>& filters : {{}, std::vector<std::string>{"label=1"}}) {
      const Error error = ErrorOf([&] {
        const auto source = Open({.filters = filters, .work_folder = work.path()});
        EXPECT_EQ(Payload(*source, 0, 0), records[0]);
        Payload(*source, 0, 1);
      });
      EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << error.what();
      EXPECT_THAT(error.reason(), HasSubstr("not the record that the index lists"));
      EXPECT_EQ(error.place().ordinal, 1u);
    }
  }
}

TEST_F(TfrecordSourceTest, DamagedFramesAndCutShardsAreErrorsWhenOpening) {
  Write("a.tfrecord", {"one", "two", "three"});
  Damage("a.tfrecord", 19);  // the second record's length
  EXPECT_EQ(ErrorOf([&] { Open(); }).kind(), ErrorKind::kCorrupt);
  for (const Compression compression : {Compression::kNone, Compression::kGzip}) {
    Write("a.tfrecord", {"one", "two", "three"}, compression);
    std::filesystem::resize_file(folder_ / "a.tfrecord",
                                 std::filesystem::file_size(folder_ / "a.tfrecord") - 1);
    EXPECT_EQ(ErrorOf([&] { Open(); }).kind(), ErrorKind::kCorrupt);
  }
}

TEST_F(TfrecordSourceTest, AShardThatChangedIsNoticed) {
  Write("a.tfrecord", {"one", "two"});
  const auto source = Open();
  Write("a.tfrecord", {"one"});
  EXPECT_EQ(ErrorOf([&] { Payload(*source, 0, 0); }).kind(), ErrorKind::kCorrupt);
}

TEST_F(TfrecordSourceTest, FiltersKeepRecordsByTheirValues) {
  for (const Compression compression : {Compression::kNone, Compression::kZlib}) {
    Write("a.tfrecord",
          {LabelledRecord(1, "x"), LabelledRecord(2, "y"), LabelledRecord(1, "y"),
           LabelledRecord(3, "z")},
          compression);
    const auto count = [&](std::vector<std::string> filters) {
      return Open({.filters = std::move(filters)})->splits()[0].items;
    };
    EXPECT_EQ(count({"label=1"}), 2u);
    EXPECT_EQ(count({"label!=1"}), 2u);
    EXPECT_EQ(count({"text=y", "label=1"}), 1u);
    EXPECT_EQ(count({"weight=1.5"}), 1u);
    EXPECT_EQ(count({"none!=x"}), 4u);
    const auto source = Open({.filters = {"text=y"}});
    EXPECT_EQ(ReadItem(*source, 0, 0).label, 2);
    EXPECT_EQ(ReadItem(*source, 0, 1).label, 1);
    EXPECT_NE(source->Fingerprint(), Open({.filters = {"label=1"}})->Fingerprint());
    EXPECT_EQ(ErrorOf([&] { count({"none=x"}); }).kind(), ErrorKind::kInvalidArgument);
    EXPECT_EQ(ErrorOf([&] { count({"label"}); }).kind(), ErrorKind::kInvalidArgument);
    EXPECT_EQ(ErrorOf([&] { count({"!=1"}); }).kind(), ErrorKind::kInvalidArgument);
  }
}

TEST_F(TfrecordSourceTest, TheLabelOffsetIsTakenOff) {
  Write("a.tfrecord", {LabelledRecord(5, "x"), LabelledRecord(0, "y")});
  const auto source = Open({.label_offset = 1});
  const TestItem item = ReadItem(*source, 0, 0);
  EXPECT_EQ(item.label, 4);
  EXPECT_EQ(item.number("label"), 4);
  EXPECT_EQ(item.text("text"), "x");
  EXPECT_THAT(item.floats.at("weight"), ElementsAre(2.5f));
  EXPECT_EQ(ErrorOf([&] { ReadItem(*source, 0, 1); }).kind(), ErrorKind::kCorrupt);
}

TEST_F(TfrecordSourceTest, FeaturesOfNoKindAreKeptWhereRecordsAreMadeAnew) {
  const auto record = [](int64_t label) {
    ExampleBuilder builder;
    builder.AddNone("empty");
    builder.AddInt64("label", label);
    return Serialised(builder);
  };
  Write("a.tfrecord", {record(1), record(2)});
  const auto source = Open({.label_offset = 1});
  Sample sample;
  const auto reader = source->NewReader();
  reader->Read(0, 0, sample);
  EXPECT_EQ(Serialised(sample.features), record(0));
}

TEST_F(TfrecordSourceTest, MapsFeaturesAndDropsTheOthers) {
  ExampleBuilder builder;
  const std::string png = PngHeader(8, 9);
  builder.AddBytes("jpeg_bytes", AsBytes(png));
  builder.AddInt64("y", 7);
  builder.AddInt64("other", 1);
  Write("a.tfrecord", {Serialised(builder)});
  const auto source =
      Open({.fields = ParseFieldMap("image=encoded;jpeg_bytes,label=y"), .label_offset = 1});
  const TestItem item = ReadItem(*source, 0, 0);
  EXPECT_THAT(item.names(), ElementsAre("image/class/label", "image/encoded", "image/format",
                                        "image/height", "image/width"));
  EXPECT_EQ(item.number("image/class/label"), 6);
  EXPECT_EQ(item.label, 6);
  EXPECT_EQ(item.number("image/width"), 8);
  const auto missing = Open({.fields = {{"label", "z"}}});
  EXPECT_EQ(ErrorOf([&] { ReadItem(*missing, 0, 0); }).kind(), ErrorKind::kNotFound);
  const auto text_label = Open({.fields = {{"label", "jpeg_bytes"}}});
  EXPECT_EQ(ErrorOf([&] { ReadItem(*text_label, 0, 0); }).kind(), ErrorKind::kUnsupported);
}

TEST_F(TfrecordSourceTest, ImagesAreTiledOrResizedOnRequest) {
  Image image;
  image.Reshape(300, 200, 3);
  const ByteBuffer jpeg = EncodeJpeg(image);
  ExampleBuilder builder;
  builder.AddBytes("image/encoded", jpeg);
  builder.AddInt64("image/height", 200);
  builder.AddInt64("image/class/label", 3);
  Write("a.tfrecord", {Serialised(builder)});
  const TestItem tiled = ReadItem(*Open({.image = {.tile = true}}), 0, 0);
  EXPECT_NE(tiled.text("image/encoded"), AsText(jpeg));
  EXPECT_EQ(tiled.number("image/height"), 200);
  EXPECT_EQ(tiled.label, 3);
  const TestItem small = ReadItem(*Open({.image = {.resize = 50}}), 0, 0);
  EXPECT_EQ(small.number("image/height"), 50);
  EXPECT_EQ(small.number("image/width"), 75);
}

TEST_F(TfrecordSourceTest, RefusesWhatHoldsNoRecords) {
  EXPECT_EQ(ErrorOf([&] { Open(); }).kind(), ErrorKind::kNotFound);
  Write("a.tfrecord", {});
  EXPECT_EQ(ErrorOf([&] { Open(); }).kind(), ErrorKind::kInvalidArgument);
}

TEST_F(TfrecordSourceTest, IsRecognisedByNameOrFirstBytes) {
  EXPECT_FALSE(LooksLikeTfrecord(folder_.path()));
  Write("plain", {"one"});
  EXPECT_TRUE(LooksLikeTfrecord(folder_ / "plain"));
  MakeFile(folder_ / "picture", "twelve bytes and more");
  EXPECT_FALSE(LooksLikeTfrecord(folder_ / "picture"));
  Write("train-00000-of-00001.tfrecord", {"one"});
  EXPECT_TRUE(LooksLikeTfrecord(folder_.path()));
}

// Extensions that files of other kinds have, too, need a first record.
TEST_F(TfrecordSourceTest, ShardsOfOtherProgramsAreRecognised) {
  int number = 0;
  for (const char* name : {"train.record", "train.record-00000-of-00001", "train.tfrec",
                           "train-00000-of-00001", "train-00000-of-00001.record"}) {
    const std::string here = format("{}", number++);
    std::filesystem::create_directory(folder_ / here);
    Write(here + "/" + name, {"one"});
    EXPECT_EQ(RecogniseSource(folder_ / here), "tfrecord") << name;
    const auto source = Open({.path = folder_ / here});
    EXPECT_EQ(source->splits().at(0).name, "train") << name;
  }
  std::filesystem::create_directory(folder_ / "gz");
  Write("gz/val.record.gz", {"one"}, Compression::kGzip);
  EXPECT_EQ(RecogniseSource(folder_ / "gz"), "tfrecord");
  std::filesystem::create_directories(folder_ / "other/vinyl");
  MakeFile(folder_ / "other/vinyl/a.record", "twelve bytes and more");
  EXPECT_EQ(RecogniseSource(folder_ / "other"), "folder");
  EXPECT_NE(RecogniseSource(folder_ / "other/vinyl"), "tfrecord");
}

TEST(OneBasedLabelNoticeTest, SpeaksOnlyWhereAllOfOneToNAreThere) {
  EXPECT_TRUE(OneBasedLabelNotice({{1, 5}, {2, 5}, {3, 1}}).has_value());
  EXPECT_FALSE(OneBasedLabelNotice({{0, 5}, {1, 5}, {2, 1}}).has_value());
  EXPECT_FALSE(OneBasedLabelNotice({{1, 5}, {3, 1}}).has_value());
  EXPECT_FALSE(OneBasedLabelNotice({{1, 5}}).has_value());
  EXPECT_FALSE(OneBasedLabelNotice({}).has_value());
}

}  // namespace
}  // namespace recpack::pack
