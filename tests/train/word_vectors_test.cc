// Files of word vectors: their three forms, and what is wrong with damaged ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "recpack/base/error.h"
#include "src/train/words/word_vector_file.h"
#include "tests/base/error_of.h"
#include "tests/record/memory_files.h"

namespace recpack::train {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kGlove[] = "the 0.5 -1 2e-1\nunseen 7 7 7\ngood 1 2 3\n";

std::string Binary(const std::string& word, const std::vector<float>& values,
                   const std::string& end = "\n") {
  std::string text = word + " ";
  for (const float value : values) {
    const auto bits = std::bit_cast<uint32_t>(value);
    for (int i = 0; i < 4; ++i) text += static_cast<char>(bits >> (8 * i));
  }
  return text + end;
}

std::string BinaryFile(const std::string& end = "\n") {
  return "3 3\n" + Binary("the", {0.5F, -1, 0.2F}, end) + Binary("unseen", {7, 7, 7}, end) +
         Binary("good", {1, 2, 3}, end);
}

class WordVectorFileTest : public ::testing::Test {
 protected:
  // For a table of <pad>, <unk>, "the", "a" and "good".
  WordVectorFile Read(const std::string& content, int64_t dims = 3) {
    const auto row_of = [](std::string_view word) {
      return word == "the" ? 2U : word == "a" ? 3U : word == "good" ? 4U : 0U;
    };
    return ReadWordVectors(MemoryReadable(ByteBuffer(content.begin(), content.end()), path_),
                           {dims, 5, row_of});
  }

  Error Refusal(const std::string& content, int64_t dims = 3) {
    const Error error = ErrorOf([&] { Read(content, dims); });
    EXPECT_EQ(error.place().path, path_);
    EXPECT_FALSE(error.advice().empty());
    return error;
  }

  std::string Corrupt(const std::string& content) {
    const Error error = Refusal(content);
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << error.what();
    EXPECT_TRUE(error.place().offset.has_value());
    return error.reason();
  }

  void ExpectBoth(const WordVectorFile& file) {
    EXPECT_EQ(file.words, 3u);
    EXPECT_EQ(file.vectors.dims, 3);
    EXPECT_THAT(file.vectors.rows, ElementsAre(2u, 4u));
    EXPECT_THAT(file.vectors.values, ElementsAre(0.5F, -1, 0.2F, 1, 2, 3));
  }

  const std::string path_ = "vectors.txt";
};

TEST_F(WordVectorFileTest, ReadsGlovesText) { ExpectBoth(Read(kGlove)); }

TEST_F(WordVectorFileTest, ReadsWord2vecsText) {
  ExpectBoth(Read(std::string("3 3\n") + kGlove));
  ExpectBoth(Read("3 3 \r\nthe 0.5 -1 2e-1 \r\nunseen 7 7 7 \r\ngood 1 2 3 \r\n"));
}

TEST_F(WordVectorFileTest, ReadsWord2vecsBinary) {
  ExpectBoth(Read(BinaryFile()));
  ExpectBoth(Read(BinaryFile("")));
}

TEST_F(WordVectorFileTest, ALineFeedMayBePartOfABinaryValue) {
  const float value = std::bit_cast<float>(0x3f0a0a01U);
  const WordVectorFile file =
      Read("2 3\n" + Binary("the", {value, value, value}) + Binary("good", {1, 2, 3}));
  EXPECT_THAT(file.vectors.values, ElementsAre(value, value, value, 1, 2, 3));
}

TEST_F(WordVectorFileTest, OfAWordThatOccursTwiceTheFirstVectorCounts) {
  const WordVectorFile file = Read("the 1 2 3\nthe 4 5 6\n");
  EXPECT_EQ(file.words, 2u);
  EXPECT_THAT(file.vectors.rows, ElementsAre(2u));
  EXPECT_THAT(file.vectors.values, ElementsAre(1, 2, 3));
}

TEST_F(WordVectorFileTest, EqualVectorsHaveEqualDigests) {
  const std::string digest = Read(kGlove).vectors.Digest();
  EXPECT_EQ(Read(BinaryFile()).vectors.Digest(), digest);
  EXPECT_NE(Read("the 0.5 -1 2e-1\ngood 1 2 4\n").vectors.Digest(), digest);
  EXPECT_NE(Read("the 0.5 -1 2e-1\na 1 2 3\n").vectors.Digest(), digest);
}

TEST_F(WordVectorFileTest, WordsThatTheTableLacksTakeNoMemory) {
  const WordVectorFile file = Read("unseen 1 2 3\n. . 4 5 6\n\xe4\xb8\xad 7 8 9\n");
  EXPECT_EQ(file.words, 3u);
  EXPECT_THAT(file.vectors.rows, IsEmpty());
  EXPECT_EQ(file.vectors.values.capacity(), 0u);
}

TEST_F(WordVectorFileTest, IsReadThroughABufferThatIsSmallerThanTheFile) {
  std::string text, binary = "40002 3\n";
  const auto add = [&](const std::string& word, const char* line, const std::vector<float>& at) {
    text += word + line;
    binary += Binary(word, at);
  };
  for (int i = 0; i < 40'000; ++i) {
    if (i == 20'000) add("the", " 1 2 3\n", {1, 2, 3});
    add("unseen-" + std::string(i % 60, 'x'), " 0.125 0.25 0.5\n", {0.125F, 0.25F, 0.5F});
  }
  add("good", " 4 5 6\n", {4, 5, 6});
  for (const std::string& content : {text, "40002 3\n" + text, binary}) {
    ASSERT_GT(content.size(), size_t{3} << 19);
    const WordVectorFile file = Read(content);
    EXPECT_EQ(file.words, 40'002u);
    EXPECT_THAT(file.vectors.rows, ElementsAre(2u, 4u));
    EXPECT_THAT(file.vectors.values, ElementsAre(1, 2, 3, 4, 5, 6));
  }
}

TEST_F(WordVectorFileTest, VectorsOfAnotherSizeAreRefused) {
  for (const std::string& content :
       {std::string(kGlove), "3 3\n" + std::string(kGlove), BinaryFile()}) {
    const Error error = Refusal(content, 64);
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    EXPECT_THAT(error.reason(), HasSubstr("3 values, and the model's have 64"));
    EXPECT_THAT(error.advice(), HasSubstr("--dims 3"));
  }
}

// A cut between two lines of GloVe's form alone cannot be seen.
TEST_F(WordVectorFileTest, EveryCutFileIsRefused) {
  const std::string glove = kGlove;
  for (const std::string& whole : {glove, "3 3\n" + glove, BinaryFile(), BinaryFile("")}) {
    const bool counted = whole[0] == '3';
    const size_t end = whole.size() - (whole == BinaryFile() ? 1 : 0);  // its last line feed
    for (size_t size = 0; size < end; ++size) {
      if (!counted && size > 0 && whole[size - 1] == '\n') continue;
      SCOPED_TRACE(whole.substr(0, size));
      EXPECT_THROW(Read(whole.substr(0, size)), Error);
    }
  }
  EXPECT_THAT(Corrupt("3 3\n" + glove.substr(0, glove.find('u'))), "ends after 1 of 3 words");
  EXPECT_THAT(Corrupt(glove.substr(0, glove.size() - 1)), "line 3 has no end: the file is cut");
  EXPECT_THAT(Corrupt(glove.substr(0, glove.size() - 3)),
              "line 3 has 2 values, and the first one has 3: the file is cut");
  EXPECT_THAT(Corrupt(BinaryFile().substr(0, 30)), "ends in the vector of word 2");
}

TEST_F(WordVectorFileTest, DamagedValuesAreRefused) {
  EXPECT_THAT(Corrupt("a 1 2 3\nthe 1 x 3\n"),
              "the vector of 'the' has a value that is not a number: 'x'");
  EXPECT_THAT(Corrupt("a 1 2 3\nthe 1 nan 3\n"), HasSubstr("not a number: 'nan'"));
  EXPECT_THAT(Corrupt("a 1 2 3\nthe 1 1e99 3\n"), HasSubstr("not a number: '1e99'"));
  EXPECT_THAT(Corrupt("1 3\n" + Binary("the", {1, NAN, 3})), HasSubstr("not a number"));
  EXPECT_THAT(Corrupt("a 1 2 3\n\nthe 1 2 3\n"), HasSubstr("line 2 has 0 values"));
  EXPECT_EQ(Read("the 1e-60 +2 -3\n").vectors.values, (std::vector<float>{0, 2, -3}));
}

TEST_F(WordVectorFileTest, MoreThanTheHeaderSaysIsRefused) {
  EXPECT_THAT(Corrupt(std::string("2 3\n") + kGlove), "goes on after its 2 words");
  EXPECT_THAT(Corrupt("2" + BinaryFile().substr(1)), "goes on after its 2 words");
}

TEST_F(WordVectorFileTest, FilesOfNoSuchFormAreRefused) {
  EXPECT_THAT(Corrupt(""), HasSubstr("is empty"));
  for (const std::string& content :
       {std::string("{\"word\": [1, 2, 3]}\n"), std::string("the\n"), std::string("\n\n"),
        std::string("word,1,2,3\n"), std::string(2000, '\0'),
        std::string("\x7f"
                    "ELF 1 2 3\n")}) {
    EXPECT_THAT(Corrupt(content), HasSubstr("not word vectors")) << content.substr(0, 20);
  }
  EXPECT_THAT(Corrupt(std::string(size_t{3} << 20, 'x')), HasSubstr("line 1 is longer than"));
  EXPECT_THAT(Corrupt("1 3\n" + std::string(100'000, '\x01')), HasSubstr("word 1 has no end"));
}

TEST_F(WordVectorFileTest, CompressedFilesAreToBeUnpacked) {
  for (const char* begin : {"\x1f\x8b\x08\x01", "PK\x03\x04", "BZh9"}) {
    const Error error = Refusal(begin + std::string(100, 'x'));
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("compressed"), HasSubstr("unpack")));
  }
}

}  // namespace
}  // namespace recpack::train
