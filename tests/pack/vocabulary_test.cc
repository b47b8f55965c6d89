#include "src/pack/sources/reviews/vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/base/temporary_folder.h"
#include "tests/pack/source_testing.h"

namespace recpack::pack {
namespace {

using ::testing::HasSubstr;

// Text of the vocabulary made from tokens with their counts.
std::string VocabularyText(const std::vector<std::pair<std::string, uint64_t>>& counted,
                           uint64_t most) {
  TextNumbers tokens;
  std::vector<uint64_t> counts;
  for (const auto& [token, count] : counted) {
    tokens.Number(token);
    counts.push_back(count);
  }
  return Vocabulary(tokens, counts, most).Text();
}

TEST(VocabularyTest, HasTheMostFrequentTokensFirst) {
  EXPECT_EQ(VocabularyText({{"few", 1}, {"many", 9}, {"some", 3}}, 10),
            "<pad>\n<unk>\nmany\nsome\nfew\n");
  EXPECT_EQ(VocabularyText({{"few", 1}, {"many", 9}, {"some", 3}}, 2),
            "<pad>\n<unk>\nmany\nsome\n");
}

TEST(VocabularyTest, TiesAreBrokenByBytesWhateverCameFirst) {
  EXPECT_EQ(VocabularyText({{"b", 2}, {"\xc3\xa9", 2}, {"a", 2}, {"'", 2}, {"ab", 2}, {"z", 3}}, 5),
            "<pad>\n<unk>\nz\n'\na\nab\nb\n");
  EXPECT_EQ(VocabularyText({{"ab", 2}, {"a", 2}, {"z", 3}, {"'", 2}, {"\xc3\xa9", 2}, {"b", 2}}, 5),
            "<pad>\n<unk>\nz\n'\na\nab\nb\n");
}

TEST(VocabularyTest, TokensThatNeverCountedAreLeftOut) {
  EXPECT_EQ(VocabularyText({{"a", 0}, {"b", 1}}, 10), "<pad>\n<unk>\nb\n");
  EXPECT_EQ(VocabularyText({}, 10), "<pad>\n<unk>\n");
}

class VocabularyFileTest : public ::testing::Test {
 protected:
  Error ErrorOfReading(const std::string& text) {
    MakeFile(path_, text);
    return ErrorOf([&] { Vocabulary{path_}; });
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "vocabulary.txt";
};

TEST_F(VocabularyFileTest, IsReadAsItWasWritten) {
  const std::string text = VocabularyText({{"don't", 1}, {"é", 9}, {"5", 3}}, 10);
  MakeFile(path_, text);
  const Vocabulary vocabulary(path_);
  EXPECT_EQ(vocabulary.Text(), text);
  EXPECT_EQ(vocabulary.Id("é"), 2u);
  EXPECT_EQ(vocabulary.Id("don't"), 4u);
  EXPECT_EQ(vocabulary.Id("other"), kUnknownToken);
  EXPECT_EQ(vocabulary.Id("<pad>"), kUnknownToken);
}

TEST_F(VocabularyFileTest, WhatIsNoneIsRefusedWithTheLine) {
  for (const char* text : {"", "<pad>\n"}) {
    EXPECT_THAT(ErrorOfReading(text).what(), HasSubstr("ends too early")) << text;
  }
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"the\na\n", ":1: 'the' should be <pad>"},
      {"<pad>\nthe\n", ":2: 'the' should be <unk>"},
      {"<pad>\n<unk>\nok\nTwo\n", ":4: not a token: 'Two'"},
      {"<pad>\n<unk>\ntwo words\n", ":3: not a token: 'two words'"},
      {"<pad>\n<unk>\na\n\nb\n", ":4: not a token: ''"},
      {"<pad>\n<unk>\na\r\n", ":3: not a token: 'a\r'"},
      {"<pad>\n<unk>\na\nb\na\n", ":5: 'a' occurs twice"}};
  for (const auto& [text, saying] : bad) {
    const Error error = ErrorOfReading(text);
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
    EXPECT_THAT(error.what(), HasSubstr(path_ + saying));
    EXPECT_THAT(error.advice(), HasSubstr("vocabulary.txt of an earlier pack"));
  }
}

TEST_F(VocabularyFileTest, AMissingOneIsNotFound) {
  EXPECT_EQ(ErrorOf([&] { Vocabulary{path_}; }).kind(), ErrorKind::kNotFound);
}

}  // namespace
}  // namespace recpack::pack
