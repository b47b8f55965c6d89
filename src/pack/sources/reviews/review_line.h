// Parses one review, a line of JSON in the public Amazon format (docs/format/reviews.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace recpack::pack {

// Reason why a line is not a review.
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

// Text for messages, such as "has no reviewerID".
const char* FaultReason(ReviewFault fault);

struct ReviewLine {
  std::string user;  // reviewerID
  std::string item;  // asin
  std::string text;  // reviewText
  float rating = 0;  // overall
};

// Parses a line into `review`, which is valid if kNone is returned.
ReviewFault ParseReview(std::string_view line, ReviewLine& review);

}  // namespace recpack::pack
