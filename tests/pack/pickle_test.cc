#include "src/pack/sources/cifar/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <numeric>

#include "recpack/base/error.h"
#include "tests/base/temporary_folder.h"
#include "tests/golden.h"

namespace recpack::pack {
namespace {

using ::testing::HasSubstr;
using std::string_literals::operator""s;

ByteBuffer Golden(const std::string& name) {
  return ReadWholeFile(PosixFiles(), GoldenPath("pickle/" + name));
}

// The document has views of `pickle`.
PickleDocument Parse(const std::string& pickle) {
  return ParsePickle({.memory = AsBytes(pickle), .path = "p"});
}

// Returns the error of parsing; fails the test if there is none.
Error PickleError(const std::string& pickle) {
  try {
    Parse(pickle);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return Error(ErrorKind::kInvalidArgument, "");
}

std::string Text(const PickleValue* value) {
  return value == nullptr ? "(missing)" : std::string(AsText({value->data, value->size}));
}

// ---------------------------------------------------------------------------------------------

class EveryProtocol : public testing::TestWithParam<const char*> {};

TEST_P(EveryProtocol, IsReadAlikeFromMemoryAndFromAFile) {
  const ByteBuffer bytes = Golden(GetParam() + ".pickle"s);
  const auto file = PosixFiles().OpenForReading(GoldenPath("pickle/"s + GetParam() + ".pickle"));
  for (const PickleInput& input : {PickleInput{.memory = bytes}, PickleInput{.file = file.get()}}) {
    const PickleDocument document = ParsePickle(input);
    const PickleArray& data = document.Array(*document.Find(document.root(), "data"));
    EXPECT_EQ(data.type, "u1");
    EXPECT_EQ(data.shape, (std::vector<uint64_t>{2, 3072}));
    ASSERT_EQ(data.data.size, 6144u);
    for (int i = 0; i < 6144; ++i) {
      ASSERT_EQ(data.data.data[i], (31 * (i / 3072) + 7 * (i % 3072)) % 256) << i;
    }
    const auto labels = document.Items(*document.Find(document.root(), "labels"));
    ASSERT_EQ(labels.size(), 2u);
    EXPECT_EQ(labels[0].number, 6);
    EXPECT_EQ(labels[1].number, 9);
    EXPECT_EQ(Text(document.Find(document.root(), "batch_label")), "training batch 1 of 5");
  }
}

TEST_P(EveryProtocol, EveryPrefixIsCorruptWithAnOffset) {
  ByteBuffer bytes = Golden(GetParam() + ".pickle"s);
  for (size_t size = 0; size < bytes.size(); ++size) {
    const ByteBuffer prefix(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    try {
      ParsePickle({.memory = prefix});
      FAIL() << "prefix of " << size << " bytes was read";
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::kCorrupt) << size << ": " << error.what();
      ASSERT_TRUE(error.place().offset.has_value());
      ASSERT_LE(*error.place().offset, size);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Pickles, EveryProtocol,
                         testing::Values("py27_protocol0", "py27_protocol1", "py27_protocol2",
                                         "np1_protocol0", "np1_protocol1", "np1_protocol2",
                                         "np1_protocol3", "np1_protocol4", "np1_protocol5",
                                         "np2_protocol0", "np2_protocol1", "np2_protocol2",
                                         "np2_protocol3", "np2_protocol4", "np2_protocol5"),
                         [](const auto& test) { return std::string(test.param); });

TEST(PickleTest, PixelsOfRawProtocolsAreViewsIntoTheInput) {
  for (const char* name : {"py27_protocol2", "np1_protocol3", "np2_protocol4", "np2_protocol5"}) {
    const ByteBuffer bytes = Golden(name + ".pickle"s);
    const PickleDocument document = ParsePickle({.memory = bytes});
    const PickleValue& data = document.Array(*document.Find(document.root(), "data")).data;
    EXPECT_TRUE(data.in_input) << name;
    EXPECT_EQ(data.data, bytes.data() + data.offset) << name;
  }
}

TEST(PickleTest, LongStringsOfAFileAreLeftThere) {
  const TemporaryFolder folder;
  std::string body(3 * kPickleBulkBytes, 'x');
  std::string pickle = "(B"s + std::string("\0\0\3\0", 4) + body + "K\7t.";
  WriteFileAtomically(PosixFiles(), folder / "p", AsBytes(pickle), false);
  const auto file = PosixFiles().OpenForReading(folder / "p");
  const PickleDocument document = ParsePickle({.file = file.get(), .path = "p"});
  const auto items = document.Items(document.root());
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].data, nullptr);
  EXPECT_EQ(items[0].offset, 6u);
  EXPECT_EQ(items[0].size, body.size());
  EXPECT_EQ(items[1].number, 7);
}

TEST(PickleTest, StringsAcrossThePiecesOfAFileStayWhole) {
  const TemporaryFolder folder;
  std::string pickle = "(";
  std::vector<std::string> strings;
  for (size_t i = 0; i < 2000; ++i) {
    strings.emplace_back(i % 251, static_cast<char>('a' + i % 26));
    pickle.append({'U', static_cast<char>(i % 251)}).append(strings.back());
    if (i % 400 == 0) pickle.append("I").append(std::to_string(i)).append("\n");
  }
  pickle += "l.";
  WriteFileAtomically(PosixFiles(), folder / "p", AsBytes(pickle), false);
  const auto file = PosixFiles().OpenForReading(folder / "p");
  const PickleDocument document = ParsePickle({.file = file.get(), .path = "p"});
  size_t next = 0;
  for (const PickleValue& item : document.Items(document.root())) {
    if (item.kind != PickleKind::kBytes) continue;
    EXPECT_EQ(Text(&item), strings[next++]);
  }
  EXPECT_EQ(next, strings.size());
}

void ExpectScalars(const PickleDocument& document) {
  const auto find = [&](const char* key) { return document.Find(document.root(), key); };
  EXPECT_EQ(find("none")->kind, PickleKind::kNone);
  EXPECT_EQ(find("true")->kind, PickleKind::kBool);
  EXPECT_EQ(find("true")->number, 1);
  EXPECT_EQ(find("false")->number, 0);
  EXPECT_EQ(find("big")->number, int64_t{1} << 40);
  EXPECT_EQ(find("small")->number, -(int64_t{1} << 40));
  EXPECT_EQ(find("minus")->number, -1);
  EXPECT_EQ(std::bit_cast<double>(find("float")->number), 1.5);
  EXPECT_EQ(find("bytes")->kind, PickleKind::kBytes);
  EXPECT_EQ(find("bytes")->size, 0u);
  EXPECT_EQ(Text(find("array")), "ab");
  EXPECT_EQ(Text(find("text")), "\u00e4\u20ac\U0001f600");
  EXPECT_EQ(document.Items(*find("tuple")).size(), 4u);
}

TEST(PickleTest, ReadsScalarsOfBinaryAndOfTextProtocols) {
  for (const char* name : {"scalars.pickle", "scalars_0.pickle"}) {
    const ByteBuffer bytes = Golden(name);
    ExpectScalars(ParsePickle({.memory = bytes}));
  }
}

TEST(PickleTest, GlobalsAreNamedAndNotExecuted) {
  for (const char* name : {"command.pickle", "command_0.pickle"}) {
    const ByteBuffer bytes = Golden(name);
    try {
      ParsePickle({.memory = bytes, .path = "p"});
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
      EXPECT_THAT(error.what(), HasSubstr("posix.system, which is not executed"));
    }
  }
}

TEST(PickleTest, GlobalsThatWouldHarmATerminalAreShownHarmlessly) {
  EXPECT_THAT(PickleError("cos\x1b[2J\nx\n.").what(), HasSubstr("os?[2J.x"));
}

TEST(PickleTest, ObjectsAreRefused) {
  for (const char* pickle : {"Pid\n.", "NQ.", "(ios\nsystem\n.", "NN\x81.", "\x8f.", "\x97."}) {
    EXPECT_EQ(PickleError(pickle).kind(), ErrorKind::kUnsupported) << pickle;
  }
}

TEST(PickleTest, LaterProtocolsAreRefused) {
  EXPECT_EQ(PickleError("\x80\x06N.").kind(), ErrorKind::kUnsupported);
}

TEST(PickleTest, TheLastOfEqualKeysCounts) {
  const std::string pickle = "}(U\1aK\1U\1aK\2u.";
  const PickleDocument document = Parse(pickle);
  EXPECT_EQ(document.Find(document.root(), "a")->number, 2);
  EXPECT_EQ(document.Find(document.root(), "b"), nullptr);
}

TEST(PickleTest, AListThatContainsItselfIsOnlyData) {
  const PickleDocument document = Parse("]q\1h\1a.");
  const auto items = document.Items(document.root());
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].number, document.root().number);
}

struct Damage {
  const char* name;
  std::string pickle;
};

class DamagedPickle : public testing::TestWithParam<Damage> {};

TEST_P(DamagedPickle, IsCorruptWithItsPlace) {
  const Error error = PickleError(GetParam().pickle);
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << error.what();
  EXPECT_TRUE(error.place().offset.has_value());
  EXPECT_EQ(error.place().path, "p");
}

const std::string kArray = "cnumpy.core.multiarray\n_reconstruct\n)R";
const std::string kDtype = "cnumpy\ndtype\nU\2u1\x85R";

INSTANTIATE_TEST_SUITE_P(
    Ways, DamagedPickle,
    testing::Values(
        Damage{"UnknownOpcode", "\xff."}, Damage{"NothingOnTheStack", "."},
        Damage{"PopBelowTheMark", "N(a."}, Damage{"TupleWithoutMark", "Nt."},
        Damage{"AppendToADictionary", "}Na."}, Damage{"SetInAList", "](NNu."},
        Damage{"KeyWithoutValue", "}(NNNu."}, Damage{"UnknownMemo", "h\1."},
        Damage{"NegativeMemo", "g-1\n."}, Damage{"NegativeStringLength", "T\xff\xff\xff\xff."},
        Damage{"AbsurdStringLength", "T\xff\xff\xff\x7f."},
        Damage{"AbsurdBytesLength", "\x8e\xff\xff\xff\xff\xff\xff\xff\xff."},
        Damage{"AbsurdFrame", "\x95\xff\xff\xff\xff\xff\xff\xff\x7f."},
        Damage{"NegativeLongLength", "\x8b\xff\xff\xff\xff."},
        Damage{"IntegerThatIsNone", "Iabc\n."}, Damage{"FloatThatIsNone", "Fabc\n."},
        Damage{"StringWithoutQuotes", "Sabc\n."}, Damage{"StringOfOneQuote", "S'\n."},
        Damage{"UnknownEscape", "S'\\q'\n."}, Damage{"HalfAnEscape", "S'\\x4'\n."},
        Damage{"OctalBeyondAByte", "S'\\777'\n."}, Damage{"HalfAUnicodeEscape", "V\\u12\n."},
        Damage{"ReduceOfData", "N)R."}, Damage{"ArgumentsThatAreNoTuple", "cnumpy\ndtype\nNR."},
        Damage{"BuildOfAList", "]Nb."}, Damage{"TypeWithoutName", "cnumpy\ndtype\n)R."},
        Damage{"ArrayWithShortState", kArray + "(K\1tb."},
        Damage{"ArrayLongerThanItsData", kArray + "(K\1K\2\x85" + kDtype + "\x89U\1xtb."},
        Damage{"ArrayShorterThanItsData", kArray + "(K\1K\1\x85" + kDtype + "\x89U\2xxtb."},
        Damage{"ArrayOfNegativeShape",
               kArray + "(K\1J\xff\xff\xff\xff\x85" + kDtype + "\x89U\1xtb."},
        Damage{"ArrayWhoseSizeOverflows",
               kArray + "(K\1\x8a\x08" + std::string("\0\0\0\0\0\0\0\x20", 8) + "\x8a\x08" +
                   std::string("\0\0\0\0\0\0\0\x20", 8) + "\x86" + kDtype + "\x89U\1xtb."},
        Damage{"ArrayWithoutAType", kArray + "(K\1K\1\x85N\x89U\1xtb."},
        Damage{"ArrayWithoutAnOrder", kArray + "(K\1K\1\x85" + kDtype + "NU\1xtb."},
        Damage{"BytesBeyondLatin1", "c_codecs\nencode\n(X\3" + std::string(3, '\0') +
                                        "\xe2\x82\xac"
                                        "U\6latin1tR."},
        Damage{"ScalarOfTheWrongSize",
               "cnumpy.core.multiarray\nscalar\n(cnumpy\ndtype\nU\2i8\x85RU\1xtR."}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(PickleTest, TooManyValuesAreRefused) {
  EXPECT_EQ(PickleError(std::string(size_t{5} << 20, 'N')).kind(), ErrorKind::kUnsupported);
  EXPECT_EQ(PickleError(std::string(size_t{5} << 20, '(')).kind(), ErrorKind::kCorrupt);
}

TEST(PickleTest, RepeatedDecodingOfOneLongTextIsRefused) {
  std::string pickle = "X" + std::string("\0\0\1\0", 4) + std::string(65536, 'x') + "q\1";
  for (int i = 0; i < 100; ++i) pickle += "c_codecs\nencode\n(h\1U\6latin1tR";
  EXPECT_EQ(PickleError(pickle + ".").kind(), ErrorKind::kUnsupported);
}

// Changes each byte of a small pickle: the result is always a value or an Error.
TEST(PickleTest, EveryChangedByteGivesAValueOrAnError) {
  const ByteBuffer good = Golden("scalars.pickle");
  size_t errors = 0;
  for (size_t i = 0; i < good.size(); ++i) {
    for (const uint8_t flip : {uint8_t{0x01}, uint8_t{0x80}, uint8_t{0xff}}) {
      ByteBuffer bad = good;
      bad[i] = static_cast<uint8_t>(bad[i] ^ flip);
      try {
        ParsePickle({.memory = bad});
      } catch (const Error& error) {
        EXPECT_NE(error.kind(), ErrorKind::kIo);
        ++errors;
      }
    }
  }
  EXPECT_GT(errors, good.size() / 4);
}

}  // namespace
}  // namespace recpack::pack
