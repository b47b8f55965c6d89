#include "src/pack/sources/list/list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/audio/wav_file.h"
#include "tests/base/temporary_folder.h"
#include "tests/pack/source_testing.h"

namespace recpack::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class ListSourceTest : public ::testing::Test {
 protected:
  ListSourceTest() {
    MakeFile(folder_ / "a.png", PngHeader(4, 3));
    MakeFile(folder_ / "sub/b.bin", "bytes of b");
    MakeFile(folder_ / "c.txt", "c");
  }

  std::unique_ptr<Source> Open(const std::string& name, const std::string& text,
                               ListOptions options = {}) {
    MakeFile(folder_ / name, text);
    options.path = folder_ / name;
    return OpenList(options);
  }

  Error ErrorOfOpening(const std::string& name, const std::string& text,
                       const ListOptions& options = {}) {
    return ErrorOf([&] { Open(name, text, options); });
  }

  TemporaryFolder folder_;
};

TEST_F(ListSourceTest, SoundsHaveFeaturesOfTheirOwn) {
  MakeFile(folder_ / "a.wav", AsText(WavOf16({1, 2})));
  for (const FieldMap& fields : {FieldMap(), FieldMap{{"audio", "path"}, {"label", "label"}}}) {
    const auto source = Open("l.csv", "label,path\nyes,a.wav\nno,a.png\n", {.fields = fields});
    const TestItem sound = ReadItem(*source, 0, 0);
    EXPECT_EQ(sound.number("audio/frames"), 2);
    EXPECT_EQ(sound.text("audio/filename"), "a.wav");
    EXPECT_EQ(sound.number("label"), 1);
    EXPECT_EQ(sound.text("label/text"), "yes");
    EXPECT_EQ(ReadItem(*source, 0, 1).number("image/class/label"), 0);
  }
}

TEST_F(ListSourceTest, ReadsColumnsByTheTypeOfTheirValues) {
  const auto source = Open("l.csv",
                           "path,label,score,count,note\n"
                           "a.png,3,1,+7,1x\n"
                           "sub/b.bin,0,2.5,-8,\n");
  EXPECT_EQ(source->splits()[0].name, "train");
  EXPECT_THAT(ItemNames(*source, 0), ElementsAre("a.png", "sub/b.bin"));
  const TestItem a = ReadItem(*source, 0, 0);
  EXPECT_EQ(a.text("image/encoded"), PngHeader(4, 3));
  EXPECT_EQ(a.number("image/width"), 4);
  EXPECT_EQ(a.text("image/filename"), "a.png");
  EXPECT_EQ(a.number("image/class/label"), 3);
  EXPECT_EQ(a.label, 3);
  EXPECT_THAT(a.floats.at("score"), ElementsAre(1.0f));
  EXPECT_EQ(a.number("count"), 7);
  EXPECT_EQ(a.text("note"), "1x");
  const TestItem b = ReadItem(*source, 0, 1);
  EXPECT_EQ(b.text("image/encoded"), "bytes of b");
  EXPECT_EQ(b.label, 0);
  EXPECT_THAT(b.floats.at("score"), ElementsAre(2.5f));
  EXPECT_EQ(b.number("count"), -8);
  EXPECT_FALSE(b.bytes.contains("note"));
}

TEST_F(ListSourceTest, ReadsQuotesLineEndsAndAByteOrderMark) {
  const auto source = Open("l.csv",
                           "\xef\xbb\xbf"
                           "path,note\r\n\r\n"
                           "\"a.png\",\"says \"\"hi\"\",\ntwice\"\r\n"
                           "c.txt,last");
  EXPECT_EQ(ReadItem(*source, 0, 0).text("note"), "says \"hi\",\ntwice");
  EXPECT_EQ(ReadItem(*source, 0, 1).text("note"), "last");
}

TEST_F(ListSourceTest, TheFirstColumnIsTheFileWhereNoneIsCalledPath) {
  EXPECT_EQ(ReadItem(*Open("l.tsv", "file\tx\nc.txt\t1\n"), 0, 0).text("image/encoded"), "c");
}

TEST_F(ListSourceTest, TextLabelsBecomeClassesInSortedOrder) {
  const auto source = Open("l.csv", "path,label\na.png,dog\nc.txt,cat\nsub/b.bin,dog\na.png,\n");
  EXPECT_THAT(source->class_names(), ElementsAre("cat", "dog"));
  const TestItem item = ReadItem(*source, 0, 0);
  EXPECT_EQ(item.number("image/class/label"), 1);
  EXPECT_EQ(item.text("image/class/text"), "dog");
  EXPECT_EQ(ReadItem(*source, 0, 3).label, -1);
  EXPECT_FALSE(source->sorted_by_class());
}

TEST_F(ListSourceTest, ListsThatLieByClassSaySo) {
  EXPECT_TRUE(Open("l.csv", "path,label\na.png,1\nc.txt,1\na.png,0\n")->sorted_by_class());
  EXPECT_FALSE(Open("l.csv", "path,label\na.png,1\nc.txt,1\n")->sorted_by_class());
}

TEST_F(ListSourceTest, TheSplitColumnPutsRowsIntoSplits) {
  const auto source =
      Open("l.csv", "path,split\nsub/b.bin,test\na.png,train\nc.txt,test\na.png,dev\n");
  ASSERT_EQ(source->splits().size(), 3u);
  EXPECT_EQ(source->splits()[0].name, "train");
  EXPECT_EQ(source->splits()[1].name, "test");
  EXPECT_EQ(source->splits()[2].name, "dev");
  EXPECT_THAT(ItemNames(*source, 1), ElementsAre("sub/b.bin", "c.txt"));
  EXPECT_FALSE(ReadItem(*source, 0, 0).bytes.contains("split"));
}

TEST_F(ListSourceTest, ReadsJsonLinesWithLists) {
  const auto source = Open("l.jsonl",
                           "{\"path\": \"a.png\", \"label\": 2, \"box\": [1, 2.5], \"ok\": true, "
                           "\"tags\": [\"x\", \"y\"]}\n\n"
                           "{\"path\": \"c.txt\", \"label\": null, \"box\": [3], \"extra\": "
                           "{\"k\": [1]}}\n");
  const TestItem a = ReadItem(*source, 0, 0);
  EXPECT_EQ(a.label, 2);
  EXPECT_THAT(a.floats.at("box"), ElementsAre(1.0f, 2.5f));
  EXPECT_EQ(a.number("ok"), 1);
  EXPECT_THAT(a.bytes.at("tags"), ElementsAre("x", "y"));
  const TestItem c = ReadItem(*source, 0, 1);
  EXPECT_EQ(c.label, -1);
  EXPECT_THAT(c.floats.at("box"), ElementsAre(3.0f));
  EXPECT_EQ(c.text("extra"), "{\"k\":[1]}");
  EXPECT_FALSE(c.bytes.contains("tags"));
}

TEST_F(ListSourceTest, SeveralLabelsAreKeptButNotCounted) {
  const auto source = Open("l.jsonl", "{\"path\": \"a.png\", \"label\": [\"b\", \"a\"]}\n");
  const TestItem item = ReadItem(*source, 0, 0);
  EXPECT_THAT(item.ints.at("image/class/label"), ElementsAre(1, 0));
  EXPECT_THAT(item.bytes.at("image/class/text"), ElementsAre("b", "a"));
  EXPECT_EQ(item.label, -1);
}

TEST_F(ListSourceTest, MapsColumnsAndDropsTheOthers) {
  const auto source = Open("l.csv", "id,file,class,note\n5,c.txt,9,n\n",
                           {.fields = ParseFieldMap("image=file,label=y;class,caption=note")});
  const TestItem item = ReadItem(*source, 0, 0);
  EXPECT_EQ(item.label, 9);
  EXPECT_THAT(item.names(), ElementsAre("caption", "image/class/label", "image/encoded",
                                        "image/filename", "image/format"));
}

TEST_F(ListSourceTest, TypesCanBeWidenedButNotNarrowed) {
  const auto source =
      Open("l.csv", "path,zip\nc.txt,01234\n", {.types = {{"zip", ListType::kBytes}}});
  EXPECT_EQ(ReadItem(*source, 0, 0).text("zip"), "01234");
  const Error error = ErrorOfOpening("l.csv", "path,x\nc.txt,1\nc.txt,a\nc.txt,b\n",
                                     {.types = {{"x", ListType::kInt64}}});
  EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
  EXPECT_THAT(error.place().path, EndsWith("l.csv:3"));
}

// Rounded to float, different ids would become equal.
TEST_F(ListSourceTest, AColumnOfWholeNumbersBeyond64BitsIsRefused) {
  const struct {
    const char *name, *text;
  } kCases[] = {
      {"l.csv", "path,id\nc.txt,1\nc.txt,9223372036854775808\n"},
      {"l.csv", "path,id\nc.txt,-1\nc.txt,-9223372036854775809\n"},
      {"l.csv", "path,id\nc.txt,1\nc.txt,+123456789012345678901234567890\n"},
      {"l.jsonl",
       "{\"path\": \"c.txt\", \"id\": 1}\n"
       "{\"path\": \"c.txt\", \"id\": [2, 18446744073709551615]}\n"},
      {"l.jsonl",
       "{\"path\": \"c.txt\", \"id\": 1}\n"
       "{\"path\": \"c.txt\", \"id\": 18446744073709551616}\n"},
      {"l.jsonl",
       "{\"path\": \"c.txt\", \"id\": 1}\n"
       "{\"path\": \"c.txt\", \"id\": [2, -123456789012345678901234567890]}\n"},
  };
  for (const auto& one : kCases) {
    const Error error = ErrorOfOpening(one.name, one.text);
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument) << one.text;
    EXPECT_THAT(error.place().path,
                EndsWith(one.name + std::string(one.name[2] == 'c' ? ":3" : ":2")));
    EXPECT_THAT(error.reason(), HasSubstr("column id")) << error.what();
  }
  const char kLabels[] = "path,label\nc.txt,9223372036854775808\n";
  EXPECT_THAT(ErrorOfOpening("l.csv", kLabels).reason(), HasSubstr("column label"));
}

TEST_F(ListSourceTest, AWholeNumberBeyond64BitsIsKeptAsItsColumnSays) {
  const char kIds[] = "path,id\nc.txt,1\nc.txt,9223372036854775808\n";
  const auto texts = Open("l.csv", kIds, {.types = {{"id", ListType::kBytes}}});
  EXPECT_EQ(ReadItem(*texts, 0, 1).text("id"), "9223372036854775808");
  const auto floats = Open("l.csv", kIds, {.types = {{"id", ListType::kFloat}}});
  EXPECT_THAT(ReadItem(*floats, 0, 1).floats.at("id"), ElementsAre(9223372036854775808.0f));
  // Numbers of all kinds, texts, and file names.
  const char kMixed[] = "path,x\nc.txt,0.5\nc.txt,9223372036854775808\n";
  EXPECT_EQ(ErrorOf([&] { Open("l.csv", kMixed); }).kind(), ErrorKind::kInvalidArgument);
  const auto mixed = Open("l.csv", kMixed, {.types = {{"x", ListType::kFloat}}});
  EXPECT_THAT(ReadItem(*mixed, 0, 1).floats.at("x"), ElementsAre(9223372036854775808.0f));
  const auto text = Open("l.csv", "path,text\nc.txt,abc\nc.txt,9223372036854775808\n");
  EXPECT_EQ(ReadItem(*text, 0, 1).text("text"), "9223372036854775808");
  MakeFile(folder_ / "9223372036854775808", "d");
  const auto names = Open("l.csv", "path,split\n9223372036854775808,9223372036854775808\n");
  EXPECT_EQ(ReadItem(*names, 0, 0).text("image/encoded"), "d");
}

// A column with a fraction holds floats, which would round ids and time stamps in nanoseconds.
TEST_F(ListSourceTest, AWholeNumberBeyond2To53AmongFractionsIsAnErrorUnlessItsColumnSays) {
  for (const char* rows : {"0.5\nc.txt,-9007199254740993", "9007199254740993\nc.txt,0.5"}) {
    const std::string list = "path,x\nc.txt,1\nc.txt," + std::string(rows) + "\n";
    const Error error = ErrorOf([&] { Open("l.csv", list); });
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument) << rows;
    EXPECT_THAT(error.reason(), HasSubstr("9007199254740993"));
    EXPECT_THAT(error.place().path, EndsWith(rows[0] == '0' ? "l.csv:4" : "l.csv:3"));
    Open("l.csv", list, {.types = {{"x", ListType::kFloat}}});
  }
  const char kJson[] =
      "{\"path\": \"c.txt\", \"x\": 9007199254740993}\n{\"path\": \"c.txt\", \"x\": 0.5}\n";
  EXPECT_THAT(ErrorOf([&] { Open("l.jsonl", kJson); }).place().path, EndsWith("l.jsonl:1"));
  const auto whole = Open("l.csv", "path,x\nc.txt,9007199254740993\n");
  EXPECT_THAT(ReadItem(*whole, 0, 0).ints.at("x"), ElementsAre(9007199254740993));
  const auto small = Open("l.csv", "path,x\nc.txt,9007199254740992\nc.txt,0.5\n");
  EXPECT_THAT(ReadItem(*small, 0, 0).floats.at("x"), ElementsAre(9007199254740992.0f));
}

// Rounding a fraction is allowed, but not to 0 or infinity.
TEST_F(ListSourceTest, ANumberThatFloatCannotKeepIsAnErrorUnlessItsColumnSays) {
  for (const char* number : {"1e-300", "-1e-60", "1e300", "-4e38"}) {
    const std::string list = "path,x\nc.txt,0.5\nc.txt," + std::string(number) + "\n";
    const Error error = ErrorOf([&] { Open("l.csv", list); });
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument) << number;
    EXPECT_THAT(error.reason(), HasSubstr(number));
    EXPECT_THAT(error.place().path, HasSubstr("l.csv:3"));
    Open("l.csv", list, {.types = {{"x", ListType::kFloat}}});
    const auto texts = Open("l.csv", list, {.types = {{"x", ListType::kBytes}}});
    EXPECT_EQ(ReadItem(*texts, 0, 1).text("x"), number);
  }
  const auto kept = Open("l.csv", "path,x\nc.txt,0.1\nc.txt,1e-40\nc.txt,inf\nc.txt,0\n");
  EXPECT_THAT(ReadItem(*kept, 0, 1).floats.at("x"), ElementsAre(1e-40f));
}

TEST_F(ListSourceTest, NumbersOfJsonKeepTheirDigitsAsBytes) {
  const auto source =
      Open("l.jsonl",
           "{\"path\": \"c.txt\", \"id\": 123456789012345678901234567890, \"x\": 1.50,"
           " \"all\": {\"b\": [18446744073709551616, -2, 1E3], \"a\": {\"\\\"\": null}, \"b\": "
           "[], \"c\": [18446744073709551616, -2, {}, 1E3, \"\\n\", true]}}\n"
           "{\"path\": \"c.txt\", \"id\": [1, 18446744073709551616], \"x\": 2}\n",
           {.types = {{"id", ListType::kBytes}, {"x", ListType::kBytes}}});
  const TestItem item = ReadItem(*source, 0, 0);
  EXPECT_EQ(item.text("id"), "123456789012345678901234567890");
  EXPECT_EQ(item.text("x"), "1.50");
  EXPECT_EQ(item.text("all"),
            "{\"a\":{\"\\\"\":null},\"b\":[],\"c\":[18446744073709551616,-2,{},1E3,\"\\n\",true]}");
  EXPECT_THAT(ReadItem(*source, 0, 1).bytes.at("id"), ElementsAre("1", "18446744073709551616"));
}

TEST_F(ListSourceTest, NumbersOfJsonInOtherNotationsAreFloats) {
  const auto source =
      Open("l.jsonl", "{\"path\": \"c.txt\", \"x\": [1, 1e30, 18446744073709551616]}\n",
           {.types = {{"x", ListType::kFloat}}});
  EXPECT_THAT(ReadItem(*source, 0, 0).floats.at("x"), ElementsAre(1.0f, 1e30f, 0x1p64f));
}

TEST(ParseListTypesTest, ReadsColumnsAndTypes) {
  const auto types = ParseListTypes("zip=bytes,a=b=float");
  ASSERT_EQ(types.size(), 2u);
  EXPECT_EQ(types[0], std::pair(std::string("zip"), ListType::kBytes));
  EXPECT_EQ(types[1], std::pair(std::string("a=b"), ListType::kFloat));
  EXPECT_TRUE(ParseListTypes("").empty());
  for (const char* text : {"zip", "zip=", "=bytes", "zip=text", "a=int64,a=float", "a=int64,"}) {
    EXPECT_EQ(ErrorOf([&] { ParseListTypes(text); }).kind(), ErrorKind::kInvalidArgument) << text;
  }
}

TEST_F(ListSourceTest, AMissingFileIsAnErrorOfItsRow) {
  const auto source = Open("l.csv", "path\nnowhere.png\nc.txt\n");
  const Error error = ErrorOf([&] { ReadItem(*source, 0, 0); });
  EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
  EXPECT_EQ(error.place().path, folder_ / "l.csv:2");
  EXPECT_THAT(error.what(), HasSubstr("nowhere.png"));
  EXPECT_EQ(ReadItem(*source, 0, 1).text("image/encoded"), "c");
}

TEST_F(ListSourceTest, ErrorsOfRowsNameListAndLine) {
  const struct {
    const char *name, *text;
    int line;
  } kCases[] = {
      {"l.csv", "path,x\na.png,1\nc.txt\n", 3},                // a cell is missing
      {"l.csv", "path,x\na.png,1\nc.txt,1,2\n", 3},            // a cell too many
      {"l.csv", "path,x\n\"a\nb\",1\nc.txt,\"1\n", 4},         // an unterminated quote
      {"l.csv", "path,x\na.png,\"1\"2\n", 2},                  // text after a quoted cell
      {"l.csv", "path,x\na.png,1\"2\"\n", 2},                  // a quote in an unquoted cell
      {"l.csv", "path,x\n,1\n", 2},                            // no file name
      {"l.csv", "path,path\na.png,1\n", 1},                    // a duplicate column
      {"l.csv", "path,split\na.png,../x\n", 2},                // an invalid split name
      {"l.jsonl", "{\"path\": \"a.png\"}\n{\"path\": \n", 2},  // truncated JSON
      {"l.jsonl", "{\"path\": \"a.png\"}\n[1]\n", 2},          // not an object
      {"l.jsonl", "{\"path\": \"a.png\"}\n{\"x\": 1}\n", 2},   // no file name
  };
  for (const auto& one : kCases) {
    const Error error = ErrorOfOpening(one.name, one.text);
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << one.text;
    EXPECT_EQ(error.place().path, folder_ / (one.name + (":" + std::to_string(one.line))))
        << one.text << error.what();
  }
}

TEST_F(ListSourceTest, ListsThatMakeNoSenseAreRefused) {
  const struct {
    const char *name, *text;
  } kCases[] = {
      {"l.csv", ""},
      {"l.csv", "path\n"},
      {"l.csv", "path,label\na.png,1.5\n"},
      {"l.csv", "path,image/encoded\na.png,1\n"},
      {"l.jsonl", "{\"file\": \"a.png\"}\n"},
      {"l.jsonl", "{\"path\": \"a.png\", \"x\": 1}\n{\"path\": \"a.png\", \"x\": \"1\"}\n"},
  };
  for (const auto& one : kCases) {
    EXPECT_EQ(ErrorOfOpening(one.name, one.text).kind(), ErrorKind::kInvalidArgument) << one.text;
  }
  EXPECT_EQ(ErrorOfOpening("l.csv", "path\na.png\n", {.fields = {{"label", "none"}}}).kind(),
            ErrorKind::kInvalidArgument);
  EXPECT_EQ(ErrorOf([&] { OpenList({.path = folder_ / "none.csv"}); }).kind(),
            ErrorKind::kNotFound);
}

TEST_F(ListSourceTest, FingerprintDependsOnRowsAndSizes) {
  const std::string before = Open("l.csv", "path,x\nc.txt,1\n")->Fingerprint();
  EXPECT_NE(before, Open("l.csv", "path,x\nc.txt,2\n")->Fingerprint());
  MakeFile(folder_ / "c.txt", "longer");
  EXPECT_NE(before, Open("l.csv", "path,x\nc.txt,1\n")->Fingerprint());
}

TEST_F(ListSourceTest, ReadsManyRowsOnSeveralThreads) {
  std::string text = "path,n\n";
  for (int i = 0; i < 20'000; ++i) text += "c.txt," + std::to_string(i) + "\n";
  const auto source = Open("l.csv", text, {.threads = 4});
  EXPECT_EQ(source->splits()[0].items, 20'000u);
  EXPECT_EQ(ReadItem(*source, 0, 12'345).number("n"), 12'345);
  EXPECT_GT(source->ItemBytes(0, 19'999), 1u);
}

TEST(LooksLikeListTest, ByName) {
  EXPECT_TRUE(LooksLikeList("x/a.jsonl"));
  EXPECT_TRUE(LooksLikeList("a.csv"));
  EXPECT_FALSE(LooksLikeList("a.json"));
}

// Rows cost what they hold, not what their list holds: else this takes minutes.
TEST_F(ListSourceTest, EachOfManyLinesMayHaveAKeyOfItsOwn) {
  constexpr int kLines = 100'000;
  std::string text;
  for (int i = 0; i < kLines; ++i) {
    text += R"({"path": "c.txt", "k)" + std::to_string(i) + R"(": )" + std::to_string(i) + "}\n";
  }
  const auto source = Open("l.jsonl", text);
  ASSERT_EQ(source->splits()[0].items, kLines);
  const auto reader = source->NewReader();
  Sample sample;
  for (int i = 0; i < kLines; ++i) {
    sample.features.Clear();
    reader->Read(0, i, sample);
    EXPECT_EQ(source->ItemName(0, i), "c.txt");
  }
  const TestItem last = ReadItem(*source, 0, kLines - 1);
  EXPECT_EQ(last.number("k99999"), 99'999);
  EXPECT_FALSE(last.ints.contains("k99998"));
}

TEST_F(ListSourceTest, ColumnsMappedTwiceAndInAnotherOrderAreAllWritten) {
  const auto source = Open("l.jsonl",
                           R"({"path": "c.txt", "b": 1, "a": 2})"
                           "\n"
                           R"({"path": "c.txt", "a": 3})"
                           "\n",
                           {.fields = ParseFieldMap("z=a,y=b,x=a")});
  const TestItem first = ReadItem(*source, 0, 0);
  EXPECT_EQ(first.number("z"), 2);
  EXPECT_EQ(first.number("x"), 2);
  EXPECT_EQ(first.number("y"), 1);
  const TestItem second = ReadItem(*source, 0, 1);
  EXPECT_EQ(second.number("x"), 3);
  EXPECT_FALSE(second.ints.contains("y"));
}

}  // namespace
}  // namespace recpack::pack
