// What is held of all reviews: who wrote which, and where its tokens are.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "src/pack/sources/reviews/review_files.h"
#include "src/pack/sources/reviews/review_line.h"
#include "src/pack/sources/reviews/review_lists.h"
#include "src/pack/sources/reviews/review_split.h"
#include "src/pack/sources/reviews/reviews.h"
#include "src/shards/files/spool_file.h"

namespace recpack::pack {

// A line of the files, or what was wrong with it.
struct Review {
  static constexpr uint32_t kNobody = UINT32_MAX;

  uint64_t place = 0;   // first of its tokens in ReviewTable::tokens; of no review the byte offset
  uint64_t line = 0;    // from 1
  uint32_t tokens = 0;  // kept of it; of no review the ReviewFault
  uint32_t user = kNobody;
  uint32_t item = kNobody;
  float rating = 0;

  bool is_review() const { return user != kNobody; }
  ReviewFault fault() const {
    return is_review() ? ReviewFault::kNone : static_cast<ReviewFault>(tokens);
  }
  bool is_of_same_pair(const Review& other) const {
    return user == other.user && item == other.item;
  }
};
static_assert(sizeof(Review) == 32);  // reviews.h says what a review takes

// Immutable once made; any number of threads.
struct ReviewTable {
  // Reads all files once. Throws as OpenReviews().
  explicit ReviewTable(const ReviewsOptions& options);

  // Of a review, by its number.
  const ReviewFile& FileOf(uint32_t review) const;

  std::vector<ReviewFile> files;
  std::vector<Review> reviews;  // in the order of files and lines
  std::array<std::vector<uint32_t>, kReviewSplits.size()> splits;  // numbers of their reviews
  ReviewLists of_users;                                            // train reviews that have tokens
  ReviewLists of_items;
  SpoolFile tokens;                 // numbers of the kept tokens of train reviews, 4 bytes each
  std::vector<uint32_t> token_ids;  // in the vocabulary, by the number in `tokens`
  double mean_id_bytes = 1;         // of the ids of train tokens, as they are written
  std::string vocabulary;           // text of the side file
  std::string fingerprint;
  uint64_t repeated = 0;  // reviews by a user of an item with another one above
};

}  // namespace recpack::pack
