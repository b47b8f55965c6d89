#include "src/pack/sources/reviews/review_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace recpack::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> TokensOf(std::string_view text) {
  std::vector<std::string> tokens;
  ReviewTokens review(text);
  while (const auto token = review.Next()) tokens.emplace_back(*token);
  return tokens;
}

TEST(ReviewTokensTest, LowersAsciiLettersAndSplitsAtEverythingElse) {
  EXPECT_THAT(TokensOf("The BEST, by far:  5/5 stars!\n(really)\tAZaz09"),
              ElementsAre("the", "best", "by", "far", "5", "5", "stars", "really", "azaz09"));
  EXPECT_THAT(TokensOf("under_score-dash@[`{mark"), ElementsAre("under", "score", "dash", "mark"));
}

TEST(ReviewTokensTest, KeepsApostrophesWhereverTheyStand) {
  EXPECT_THAT(TokensOf("Don't 'quote' rock'n'roll ' it"),
              ElementsAre("don't", "'quote'", "rock'n'roll", "'", "it"));
}

TEST(ReviewTokensTest, BytesBeyondAsciiAreLettersAndStayAsTheyAre) {
  EXPECT_THAT(TokensOf("Größe ÜBER 日本語、テスト caf\xc3\xa9!"),
              ElementsAre("größe", "Über", "日本語、テスト", "café"));
  EXPECT_THAT(TokensOf("\xff\x80 A\xfe"), ElementsAre("\xff\x80", "a\xfe"));
}

TEST(ReviewTokensTest, TextsWithoutTokens) {
  EXPECT_THAT(TokensOf(""), IsEmpty());
  EXPECT_THAT(TokensOf(" .,!\n"), IsEmpty());
  EXPECT_THAT(TokensOf(std::string_view("\0a\0", 3)), ElementsAre("a"));
}

TEST(ReviewTokensTest, EveryByteIsEitherPartOfATokenOrNone) {
  for (int i = 0; i < 256; ++i) {
    const char byte = static_cast<char>(i);
    const bool letter = (i >= 'a' && i <= 'z') || (i >= 'A' && i <= 'Z');
    const bool expected = letter || (i >= '0' && i <= '9') || i == '\'' || i > 127;
    EXPECT_EQ(TokensOf({&byte, 1}).size(), expected ? 1u : 0u) << i;
  }
}

}  // namespace
}  // namespace recpack::pack
