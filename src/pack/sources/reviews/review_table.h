// In-memory table of all reviews: users, items, and where their tokens are.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/spool_file.h"
#include "src/pack/sources/reviews/review_files.h"
#include "src/pack/sources/reviews/review_line.h"
#include "src/pack/sources/reviews/review_lists.h"
#include "src/pack/sources/reviews/reviews.h"

namespace recpack::pack {

inline constexpr std::array<const char*, 3> kReviewSplits = {"train", "validation", "test"};
inline constexpr size_t kTrainReviews = 0;

// Returns an index into kReviewSplits with 80, 10 and 10 per cent of the reviews. Depends only on
// the arguments.
size_t AssignSplit(uint64_t seed, std::string_view user, std::string_view item);

// A line of the files: a review, or the fault found in it.
struct Review {
  static constexpr uint32_t kNobody = UINT32_MAX;

  uint64_t place = 0;   // its first token in ReviewTable::tokens; byte offset if not a review
  uint64_t line = 0;    // from 1
  uint32_t tokens = 0;  // number of kept tokens; the ReviewFault if not a review
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
static_assert(sizeof(Review) == 32);  // reviews.h documents the memory of a review

// Immutable and thread-safe once constructed.
struct ReviewTable {
  // Reads all files once. Throws as OpenReviews().
  explicit ReviewTable(const ReviewsOptions& options);

  // File of the review with this number.
  const ReviewFile& File(uint32_t review) const;

  std::vector<ReviewFile> files;
  std::vector<Review> reviews;  // in the order of files and lines
  std::array<std::vector<uint32_t>, kReviewSplits.size()> splits;  // numbers of their reviews
  ReviewLists of_users;                                            // train reviews with tokens
  ReviewLists of_items;
  SpoolFile tokens;                 // numbers of the kept tokens of train reviews, 4 bytes each
  std::vector<uint32_t> token_ids;  // vocabulary ids, by the number in `tokens`
  double mean_id_bytes = 1;         // mean encoded size of the ids of train tokens
  std::string vocabulary;           // text of the side file
  std::string fingerprint;
  uint64_t repeated = 0;  // reviews whose user and item have an earlier review
};

}  // namespace recpack::pack
