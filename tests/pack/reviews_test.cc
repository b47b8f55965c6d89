#include "src/pack/sources/reviews/reviews.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>

#include "recpack/base/random.h"
#include "src/base/format.h"
#include "src/pack/open/recognise.h"
#include "src/pack/sources/reviews/review_table.h"
#include "tests/base/temporary_folder.h"
#include "tests/pack/source_testing.h"

namespace recpack::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Line(const std::string& user, const std::string& item, const std::string& text,
                 const std::string& rating = "4.0") {
  return format(
      "{{\"reviewerID\": \"{}\", \"asin\": \"{}\", \"helpful\": [0, 1], \"reviewText\": \"{}\", "
      "\"overall\": {}, \"summary\": \"not used\"}}\n",
      user, item, text, rating);
}

class ReviewsTest : public ::testing::Test {
 protected:
  std::unique_ptr<Source> Open(const std::string& text, ReviewsOptions options = {}) {
    MakeFile(folder_ / "r.jsonl", text);
    options.path = folder_ / "r.jsonl";
    return OpenReviews(options);
  }

  // The record's ids as tokens.
  static std::vector<std::string> TokensOf(const Source& source, const std::vector<int64_t>& ids) {
    std::istringstream lines(source.SideFiles()[0].text);
    std::vector<std::string> names;
    for (std::string line; std::getline(lines, line);) names.push_back(line);
    std::vector<std::string> tokens;
    for (const int64_t id : ids) tokens.push_back(names.at(static_cast<size_t>(id)));
    return tokens;
  }

  static std::vector<std::string> UserTokens(const Source& source, uint64_t item) {
    return TokensOf(source, ReadItem(source, kTrainReviews, item).ints.at("user_tokens"));
  }

  static std::vector<std::string> ItemTokens(const Source& source, uint64_t item) {
    return TokensOf(source, ReadItem(source, kTrainReviews, item).ints.at("item_tokens"));
  }

  TemporaryFolder folder_;
};

// Computed with hashlib: SHA-256 of seed and length of the user as 8 little-endian bytes each,
// user, item; the first 8 bytes as a little-endian number, modulo 10.
TEST(ReviewSplitTest, IsAFrozenFunctionOfSeedUserAndItem) {
  const std::vector<size_t> of_seed_0 = {0, 2, 2, 0, 0, 0, 2};
  for (size_t i = 0; i < of_seed_0.size(); ++i) {
    EXPECT_EQ(AssignSplit(0, format("A{}", i + 1), "B1"), of_seed_0[i]) << i;
  }
  EXPECT_EQ(AssignSplit(1, "A2", "B1"), 0u);
  EXPECT_EQ(AssignSplit(0, "v", "y"), 1u);
  EXPECT_EQ(AssignSplit(0, "v", "x"), 2u);
}

TEST(ReviewSplitTest, IsAboutEightyTenTen) {
  std::array<int, 3> counts = {};
  for (int i = 0; i < 10'000; ++i)
    ++counts[AssignSplit(5, format("U{}", i % 100), format("I{}", i))];
  EXPECT_NEAR(counts[0], 8000, 200);
  EXPECT_NEAR(counts[1], 1000, 150);
  EXPECT_NEAR(counts[2], 1000, 150);
}

// With seed 0, the pairs of u with x, y, z and of w with x, y, z are in train.
TEST_F(ReviewsTest, ARecordHasTheOtherReviewsOfUserAndItem) {
  const auto source = Open(Line("u", "x", "One two") + Line("u", "y", "three", "2") +
                           Line("w", "x", "four, FOUR", "1.5") + Line("u", "z", "two"));
  EXPECT_EQ(source->splits()[0].items, 4u);
  EXPECT_EQ(source->kind(), "reviews");
  EXPECT_THAT(UserTokens(*source, 0), ElementsAre("three", "two"));
  EXPECT_THAT(ItemTokens(*source, 0), ElementsAre("four", "four"));
  EXPECT_THAT(UserTokens(*source, 1), ElementsAre("one", "two", "two"));
  EXPECT_THAT(ItemTokens(*source, 1), IsEmpty());
  EXPECT_THAT(UserTokens(*source, 2), IsEmpty());
  EXPECT_THAT(ItemTokens(*source, 2), ElementsAre("one", "two"));
  EXPECT_THAT(UserTokens(*source, 3), ElementsAre("one", "two", "three"));
  const TestItem record = ReadItem(*source, 0, 2);
  EXPECT_EQ(record.names(),
            (std::vector<std::string>{"item", "item_tokens", "rating", "user", "user_tokens"}));
  EXPECT_EQ(record.number("user"), 1);
  EXPECT_EQ(record.number("item"), 0);
  EXPECT_THAT(record.floats.at("rating"), ElementsAre(1.5f));
  EXPECT_EQ(record.label, -1);
  EXPECT_EQ(ReadItem(*source, 0, 3).number("item"), 2);
  EXPECT_THAT(ItemNames(*source, 0),
              ElementsAre("r.jsonl:1", "r.jsonl:2", "r.jsonl:3", "r.jsonl:4"));
}

TEST_F(ReviewsTest, ListsAreCutAndRareTokensAreUnknown) {
  const auto source =
      Open(Line("u", "x", "a b c a b a") + Line("u", "y", "a b c d") + Line("u", "z", "e"),
           {.max_tokens = 5, .vocabulary = 2});
  EXPECT_EQ(source->SideFiles()[0].name, "vocabulary.txt");
  EXPECT_EQ(source->SideFiles()[0].text, "<pad>\n<unk>\na\nb\n");
  EXPECT_THAT(UserTokens(*source, 2), ElementsAre("a", "b", "<unk>", "a", "b"));
  EXPECT_THAT(UserTokens(*source, 0), ElementsAre("a", "b", "<unk>", "<unk>", "<unk>"));
  EXPECT_THAT(UserTokens(*source, 1), ElementsAre("a", "b", "<unk>", "a", "b"));
}

TEST_F(ReviewsTest, SeveralReviewsOfAPairAreKeptAndNeitherShowsTheOther) {
  const auto source =
      Open(Line("u", "x", "first") + Line("u", "x", "second") + Line("u", "y", "third"));
  EXPECT_EQ(source->splits()[0].items, 3u);
  for (const uint64_t item : {0U, 1U}) {
    EXPECT_THAT(UserTokens(*source, item), ElementsAre("third"));
    EXPECT_THAT(ItemTokens(*source, item), IsEmpty());
  }
  EXPECT_THAT(UserTokens(*source, 2), ElementsAre("first", "second"));
  EXPECT_THAT(source->Notices(),
              ElementsAre(HasSubstr("1 reviews have the same user and item as an earlier one;")));
  EXPECT_THAT(Open(Line("u", "x", "first"))->Notices(), IsEmpty());
}

// With seed 0, v's review of x is in test, and that of y in validation.
TEST_F(ReviewsTest, NothingOfAnEvaluationReviewIsInAnyRecord) {
  const auto source = Open(Line("v", "x", "secret") + Line("v", "y", "hidden") +
                           Line("v", "z", "seen") + Line("u", "x", "other"));
  EXPECT_EQ(source->splits()[1].items, 1u);
  EXPECT_EQ(source->splits()[2].items, 1u);
  EXPECT_EQ(source->SideFiles()[0].text, "<pad>\n<unk>\nother\nseen\n");
  EXPECT_THAT(UserTokens(*source, 0), IsEmpty());  // v of z
  EXPECT_THAT(ItemTokens(*source, 1), IsEmpty());  // u of x
  const TestItem test = ReadItem(*source, 2, 0);   // v of x
  EXPECT_THAT(TokensOf(*source, test.ints.at("user_tokens")), ElementsAre("seen"));
  EXPECT_THAT(TokensOf(*source, test.ints.at("item_tokens")), ElementsAre("other"));
  EXPECT_EQ(test.number("user"), 0);
}

struct Expected {
  std::string user, item;
  float rating = 0;
  std::vector<std::string> tokens;
  bool train = false;
};

// Compares every record with one computed from all reviews.
std::vector<std::string> OthersOf(const std::vector<Expected>& reviews, const Expected& predicted,
                                  std::string Expected::*side, size_t most) {
  std::vector<std::string> tokens;
  for (const Expected& review : reviews) {
    const bool same_pair = review.user == predicted.user && review.item == predicted.item;
    if (!review.train || same_pair || review.*side != predicted.*side) continue;
    tokens.insert(tokens.end(), review.tokens.begin(), review.tokens.end());
  }
  tokens.resize(std::min(tokens.size(), most));
  return tokens;
}

TEST_F(ReviewsTest, LeavingOutAgreesWithAnIndependentComputation) {
  KeyedRandom random(3, 1, 4);
  std::vector<Expected> reviews(400);
  std::string text;
  for (Expected& review : reviews) {
    review.user = format("u{}", random.NextBelow(25));
    review.item = format("i{}", random.NextBelow(18));
    review.rating = static_cast<float>(random.NextBelow(11)) / 2;
    std::string words;
    for (uint32_t left = random.NextBelow(9); left > 0; --left) {
      review.tokens.push_back(format("t{}", random.NextBelow(60)));
      words += review.tokens.back() + " .";
    }
    text += Line(review.user, review.item, words, std::to_string(review.rating));
  }
  const auto source = Open(text, {.max_tokens = 37, .seed = 11});
  const auto line_of = [&](size_t split, uint64_t item) {
    const std::string name = source->ItemName(split, item);
    return std::stoul(name.substr(name.find(':') + 1)) - 1;
  };
  for (uint64_t i = 0; i < source->splits()[0].items; ++i) reviews[line_of(0, i)].train = true;
  uint64_t records = 0, cut = 0;
  for (size_t split = 0; split < 3; ++split) {
    EXPECT_GT(source->splits()[split].items, 20u);
    for (uint64_t i = 0; i < source->splits()[split].items; ++i, ++records) {
      const Expected& review = reviews[line_of(split, i)];
      const TestItem record = ReadItem(*source, split, i);
      const auto of_user = OthersOf(reviews, review, &Expected::user, 37);
      const auto of_item = OthersOf(reviews, review, &Expected::item, 37);
      ASSERT_EQ(TokensOf(*source, record.ints.at("user_tokens")), of_user);
      ASSERT_EQ(TokensOf(*source, record.ints.at("item_tokens")), of_item);
      ASSERT_EQ(record.floats.at("rating")[0], review.rating);
      cut += of_user.size() == 37;
    }
  }
  EXPECT_EQ(records, reviews.size());
  EXPECT_GT(cut, 100u);
}

TEST_F(ReviewsTest, AVocabularyIsUsedAgain) {
  MakeFile(folder_ / "v.txt", "<pad>\n<unk>\nrare\nnever\n");
  const std::string reviews = Line("u", "x", "often often rare") + Line("u", "y", "often");
  const auto source = Open(reviews, {.vocabulary_file = folder_ / "v.txt"});
  EXPECT_EQ(source->SideFiles()[0].text, "<pad>\n<unk>\nrare\nnever\n");
  EXPECT_THAT(UserTokens(*source, 1), ElementsAre("<unk>", "<unk>", "rare"));
  EXPECT_NE(source->Fingerprint(), Open(reviews)->Fingerprint());
}

TEST_F(ReviewsTest, FoldersPatternsAndCompressedFiles) {
  const std::string one = Line("u", "x", "a"), two = Line("u", "y", "b"),
                    three = Line("u", "z", "c");
  MakeFile(folder_ / "d/2.json", two);
  MakeFile(folder_ / "d/3.ndjson", "\xef\xbb\xbf\r\n" + three.substr(0, three.size() - 1));
  MakeFile(folder_ / "d/readme.txt", "no reviews");
  const std::string packed = folder_ / "d/1.jsonl.gz";
  const gzFile gz = ::gzopen(packed.c_str(), "wb");
  ::gzwrite(gz, one.data(), static_cast<unsigned>(one.size()));
  ::gzclose(gz);
  const auto source = OpenReviews({.path = folder_ / "d"});
  EXPECT_THAT(ItemNames(*source, 0), ElementsAre("1.jsonl.gz:1", "2.json:1", "3.ndjson:2"));
  EXPECT_THAT(UserTokens(*source, 1), ElementsAre("a", "c"));
  EXPECT_THAT(ItemNames(*OpenReviews({.path = folder_ / "d/{3,2}.*json"}), 0),
              ElementsAre("3.ndjson:2", "2.json:1"));
  EXPECT_EQ(RecogniseSource(packed), "reviews");
  EXPECT_EQ(RecogniseSource(folder_ / "d/2.json"), "reviews");
}

TEST_F(ReviewsTest, IsRecognisedByItsFirstLineAlone) {
  MakeFile(folder_ / "list.jsonl", "{\"path\": \"a.png\", \"label\": 3}\n" + Line("u", "x", "a"));
  EXPECT_EQ(RecogniseSource(folder_ / "list.jsonl"), "list");
  MakeFile(folder_ / "reviews.jsonl", Line("u", "x", "a") + "garbage");
  EXPECT_EQ(RecogniseSource(folder_ / "reviews.jsonl"), "reviews");
  MakeFile(folder_ / "reviews.txt", Line("u", "x", "a"));
  EXPECT_NE(RecogniseSource(folder_ / "reviews.txt"), "reviews");
  MakeFile(folder_ / "broken.json.gz", "\x1f\x8b garbage");
  EXPECT_NE(RecogniseSource(folder_ / "broken.json.gz"), "reviews");
}

struct BadLine {
  std::string line;
  std::string saying;
};

TEST_F(ReviewsTest, ALineThatIsNoneIsAnErrorOfItsOwn) {
  const std::string good = Line("u", "x", "fine");
  const auto with = [](const char* user, const char* item, const char* text, const char* rating) {
    return format("{{{}{}{}{}\"more\": 1}}", user, item, text, rating);
  };
  const char *user = "\"reviewerID\": \"u\", ", *item = "\"asin\": \"x\", ",
             *text = "\"reviewText\": \"t\", ", *rating = "\"overall\": 3, ";
  const std::vector<BadLine> bad = {
      {"{'reviewerID': 'u'}", "is not JSON in UTF-8"},
      {"{\"reviewerID\": \"u\"", "is not JSON in UTF-8"},
      {with(user, item, "\"reviewText\": \"\xff\", ", rating), "is not JSON in UTF-8"},
      {with(user, item, "\"reviewText\": \"\\ud800\", ", rating), "is not JSON in UTF-8"},
      {with(user, item, text, "\"overall\": NaN, "), "is not JSON in UTF-8"},
      {"[1, 2]", "is not a JSON object"},
      {"\"text\"", "is not a JSON object"},
      {with("", item, text, rating), "has no reviewerID"},
      {with("\"reviewerID\": \"\", ", item, text, rating), "has no reviewerID"},
      {with("\"reviewerID\": 7, ", item, text, rating), "a reviewerID that is not text"},
      {with(user, "", text, rating), "has no asin"},
      {with(user, "\"asin\": null, ", text, rating), "an asin that is not text"},
      {with(user, item, "", rating), "has no reviewText"},
      {with(user, item, "\"reviewText\": [\"t\"], ", rating), "a reviewText that is not text"},
      {with(user, item, text, ""), "has no overall"},
      {with(user, item, text, "\"overall\": \"3\", "), "an overall that is not a number"},
      {with(user, item, text, "\"overall\": true, "), "an overall that is not a number"},
      {with(user, item, text, "\"overall\": 10.5, "), "not from 0 to 10"},
      {with(user, item, text, "\"overall\": -1, "), "not from 0 to 10"}};
  for (const BadLine& one : bad) {
    const auto source = Open(good + "\n" + one.line + "\n" + Line("w", "x", "also fine"));
    ASSERT_EQ(source->splits()[0].items, 3u) << one.line;
    const Error error = ErrorOf([&] { ReadItem(*source, 0, 1); });
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << one.line;
    EXPECT_THAT(error.reason(), HasSubstr(one.saying)) << one.line;
    EXPECT_EQ(error.place().path, folder_ / "r.jsonl:3");
    EXPECT_EQ(error.place().offset, good.size() + 1);
    EXPECT_EQ(source->ItemName(0, 1), "r.jsonl:3");
    EXPECT_GT(source->ItemBytes(0, 1), 0u);
    EXPECT_THAT(ItemTokens(*source, 0), ElementsAre("also", "fine"));
  }
}

TEST_F(ReviewsTest, BoundsOfTheRatingAndEmptyTextsAreFine) {
  const auto source =
      Open(Line("u", "x", "", "0") + Line("u", "y", "...", "10") + Line("u", "z", "a"));
  EXPECT_THAT(ReadItem(*source, 0, 0).floats.at("rating"), ElementsAre(0.0f));
  EXPECT_THAT(ReadItem(*source, 0, 1).floats.at("rating"), ElementsAre(10.0f));
  EXPECT_THAT(UserTokens(*source, 0), ElementsAre("a"));
  EXPECT_THAT(UserTokens(*source, 2), IsEmpty());
}

TEST_F(ReviewsTest, ALineWithoutEndIsNotHeld) {
  const std::string endless((size_t{64} << 20) + 1, 'x');
  const auto source = Open(Line("u", "x", "fine") + endless + "\n" + Line("u", "y", "fine"));
  EXPECT_THAT(ErrorOf([&] { ReadItem(*source, 0, 1); }).reason(), HasSubstr("longer than 64 MiB"));
  EXPECT_THAT(UserTokens(*source, 2), ElementsAre("fine"));
}

TEST_F(ReviewsTest, WhatHoldsNoReviewsIsRefused) {
  EXPECT_THAT(ErrorOf([&] { Open(" \n\r\n"); }).what(), HasSubstr("r.jsonl: holds no reviews"));
  const Error error = ErrorOf([&] { Open("\npath,label\na.png,1\n"); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(error.what(),
              HasSubstr("r.jsonl:2 at byte 1: holds no reviews: the first line is not "
                        "JSON in UTF-8"));
  std::filesystem::create_directories(folder_ / "empty");
  EXPECT_EQ(ErrorOf([&] { OpenReviews({.path = folder_ / "empty"}); }).kind(),
            ErrorKind::kNotFound);
  EXPECT_EQ(ErrorOf([&] { OpenReviews({.path = folder_ / "none.json"}); }).kind(),
            ErrorKind::kNotFound);
}

TEST_F(ReviewsTest, ACutCompressedFileIsRefused) {
  const std::string path = folder_ / "r.json.gz";
  const gzFile gz = ::gzopen(path.c_str(), "wb");
  for (int i = 0; i < 1000; ++i) {
    const std::string line = Line(format("u{}", i), "x", "text");
    ::gzwrite(gz, line.data(), static_cast<unsigned>(line.size()));
  }
  ::gzclose(gz);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 9);
  const Error error = ErrorOf([&] { OpenReviews({.path = path}); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(error.place().path, path);
}

TEST_F(ReviewsTest, OptionsBeyondTheirRangeAreRefused) {
  const std::string reviews = Line("u", "x", "a");
  for (const ReviewsOptions& options :
       {ReviewsOptions{.max_tokens = 0}, ReviewsOptions{.max_tokens = (1 << 24) + 1},
        ReviewsOptions{.vocabulary = 0}, ReviewsOptions{.vocabulary = (uint64_t{1} << 31) + 1}}) {
    EXPECT_EQ(ErrorOf([&] { Open(reviews, options); }).kind(), ErrorKind::kInvalidArgument);
  }
}

TEST_F(ReviewsTest, TheFingerprintFollowsContentAndOptions) {
  const std::string reviews = Line("u", "x", "a b");
  const std::string before = Open(reviews)->Fingerprint();
  EXPECT_EQ(Open(reviews)->Fingerprint(), before);
  EXPECT_NE(Open(Line("u", "x", "a c"))->Fingerprint(), before);
  EXPECT_NE(Open(Line("u", "x", "a b", "4.5"))->Fingerprint(), before);
  EXPECT_NE(Open(reviews, {.max_tokens = 5})->Fingerprint(), before);
  EXPECT_NE(Open(reviews, {.seed = 5})->Fingerprint(), before);
  EXPECT_NE(Open(reviews, {.vocabulary = 1})->Fingerprint(), before);
}

TEST_F(ReviewsTest, PlannedBytesAreAboutThoseOfTheRecord) {
  std::string text;
  KeyedRandom random(1, 2, 3);
  for (int i = 0; i < 300; ++i) {
    std::string words;
    for (int k = 0; k < 40; ++k)
      words += format("t{} ", random.NextBelow(random.NextBelow(1000) + 1));
    text += Line(format("u{}", i % 20), format("i{}", i % 23), words);
  }
  for (const uint32_t most : {300U, 5000U}) {  // truncated and complete
    const auto source = Open(text, {.max_tokens = most});
    const auto reader = source->NewReader();
    uint64_t planned = 0, actual = 0;
    Sample sample;
    for (uint64_t i = 0; i < source->splits()[0].items; ++i) {
      sample.Clear();
      reader->Read(0, i, sample);
      actual += sample.features.ByteSize();
      planned += source->ItemBytes(0, i);
    }
    EXPECT_NEAR(static_cast<double>(planned), static_cast<double>(actual),
                0.03 * static_cast<double>(actual))
        << most;
  }
}

}  // namespace
}  // namespace recpack::pack
