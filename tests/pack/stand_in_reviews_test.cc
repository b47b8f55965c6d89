#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <sstream>

#include "recpack/base/hash.h"
#include "src/pack/open/recognise.h"
#include "src/pack/sources/reviews/reviews.h"
#include "src/stand_in/reviews.h"
#include "tests/base/temporary_folder.h"
#include "tests/pack/source_testing.h"

namespace recpack::pack {
namespace {

std::string Contents(const std::string& path) {
  return std::string(AsText(ReadWholeFile(PosixFiles(), path)));
}

// Recovers the signs from the words; 0 if no word reveals one.
using Signs = std::array<int, 4>;

Signs SignsIn(const std::vector<int64_t>& ids, const std::vector<std::string>& vocabulary,
              const std::string& what) {
  Signs signs = {};
  for (const int64_t id : ids) {
    const std::string& word = vocabulary.at(static_cast<size_t>(id));
    if (!word.starts_with(what)) continue;
    signs.at(static_cast<size_t>(word.at(what.size()) - '0')) = word.ends_with("plus") ? 1 : -1;
  }
  return signs;
}

class StandInReviewsTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
};

// A model that only uses the words has an error near 0; predicting the mean has 1.
TEST_F(StandInReviewsTest, TheOtherReviewsTellTheRating) {
  stand_in::WriteReviews(folder_ / "a", {.records = 3000, .seed = 9});
  EXPECT_EQ(RecogniseSource(folder_ / "a/reviews.jsonl"), "reviews");
  const auto source = OpenReviews({.path = folder_ / "a"});
  std::istringstream lines(source->SideFiles()[0].text);
  std::vector<std::string> vocabulary;
  for (std::string line; std::getline(lines, line);) vocabulary.push_back(line);
  EXPECT_EQ(vocabulary.size(), 2u + 100 + 16);

  double of_model = 0, of_mean = 0;
  uint64_t records = 0;
  std::set<float> ratings;
  for (size_t split = 1; split < 3; ++split) {
    for (uint64_t i = 0; i < source->splits()[split].items; ++i, ++records) {
      const TestItem record = ReadItem(*source, split, i);
      const Signs tastes = SignsIn(record.ints.at("user_tokens"), vocabulary, "taste");
      const Signs traits = SignsIn(record.ints.at("item_tokens"), vocabulary, "trait");
      double guess = 3;
      for (size_t k = 0; k < 4; ++k) guess += tastes[k] * traits[k] / 2.0;
      const float rating = record.floats.at("rating")[0];
      of_model += (rating - guess) * (rating - guess);
      of_mean += (rating - 3) * (rating - 3);
      ratings.insert(rating);
    }
  }
  EXPECT_GT(records, 500u);
  EXPECT_EQ(ratings, (std::set<float>{1, 2, 3, 4, 5}));
  EXPECT_NEAR(of_mean / static_cast<double>(records), 1, 0.2);
  EXPECT_LT(of_model / static_cast<double>(records), 0.05);
}

TEST_F(StandInReviewsTest, BytesFollowFromRecordsAndSeed) {
  for (const auto& [name, seed] : {std::pair("a", 7), std::pair("b", 7), std::pair("c", 8)}) {
    stand_in::WriteReviews(folder_ / name, {.records = 30, .seed = static_cast<uint64_t>(seed)});
  }
  EXPECT_EQ(Contents(folder_ / "a/reviews.jsonl"), Contents(folder_ / "b/reviews.jsonl"));
  EXPECT_NE(Contents(folder_ / "a/reviews.jsonl"), Contents(folder_ / "c/reviews.jsonl"));
}

// Golden value: every machine must write the same bytes.
TEST_F(StandInReviewsTest, ReviewsAreTheSameEverywhere) {
  stand_in::WriteReviews(folder_ / "a", {.records = 2000, .seed = 1});
  Sha256 digest;
  digest.Update(AsBytes(Contents(folder_ / "a/reviews.jsonl")));
  EXPECT_EQ(Hex(digest.Finish()),
            "ebf10855386181c0724c025bb88e9bb6830e51ea8e440326ed7f163382f95611");
}

TEST_F(StandInReviewsTest, EveryPairComesOnce) {
  for (const uint64_t records : {1U, 2U, 30U, 100U, 1000U}) {
    const std::string name = std::to_string(records);
    stand_in::WriteReviews(folder_ / name, {.records = records});
    const auto source = OpenReviews({.path = folder_ / name});
    uint64_t items = 0;
    for (const SourceSplit& split : source->splits()) items += split.items;
    EXPECT_EQ(items, records);
    EXPECT_THAT(source->Notices(), ::testing::IsEmpty());
  }
}

TEST_F(StandInReviewsTest, WhatCannotBeIsRefused) {
  MakeFile(folder_ / "a/reviews.jsonl", "mine");
  EXPECT_EQ(ErrorOf([&] { stand_in::WriteReviews(folder_ / "a"); }).kind(),
            ErrorKind::kInvalidArgument);
  EXPECT_EQ(Contents(folder_ / "a/reviews.jsonl"), "mine");
  for (const uint64_t records : {uint64_t{0}, uint64_t{1'000'000'001}}) {
    EXPECT_EQ(ErrorOf([&] { stand_in::WriteReviews(folder_ / "b", {.records = records}); }).kind(),
              ErrorKind::kInvalidArgument);
  }
}

}  // namespace
}  // namespace recpack::pack
