// Which split a rating belongs to (docs/format/reviews.md).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace recpack::pack {

inline constexpr std::array<const char*, 3> kReviewSplits = {"train", "validation", "test"};
inline constexpr size_t kTrainReviews = 0;

// An index into kReviewSplits: a function of seed, user and item alone. 80, 10 and 10 per cent.
size_t SplitOfReview(uint64_t seed, std::string_view user, std::string_view item);

}  // namespace recpack::pack
