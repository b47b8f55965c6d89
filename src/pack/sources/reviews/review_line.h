// One review: a JSON object in a line of the public Amazon form (docs/format/reviews.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace recpack::pack {

// Why a line is no review.
enum class ReviewFault : uint8_t {
  kNone,
  kTooLong,
  kNoJson,
  kNoObject,
  kNoUser,
  kNoItem,
  kNoText,
  kNoRating,
  kUserIsNoText,
  kItemIsNoText,
  kTextIsNoText,
  kRatingIsNoNumber,
  kRatingOutOfRange,
};

inline constexpr uint32_t kMostLineBytes = uint32_t{64} << 20;

// As the user is told: "has no reviewerID".
const char* FaultReason(ReviewFault fault);

struct ReviewLine {
  std::string user;  // reviewerID
  std::string item;  // asin
  std::string text;  // reviewText
  float rating = 0;  // overall
};

// Reads a line into `review`, whose content counts where nothing is wrong.
ReviewFault ParseReview(std::string_view line, ReviewLine& review);

}  // namespace recpack::pack
