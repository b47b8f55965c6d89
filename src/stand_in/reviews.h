// Writes synthetic reviews whose words predict the ratings, to test models.
#pragma once

#include <cstdint>
#include <string>

#include "recpack/base/file.h"

namespace recpack::stand_in {

inline constexpr char kReviewsName[] = "reviews.jsonl";

struct ReviewsOptions {
  uint64_t records = 10'000;  // 1 to 10^9
  uint64_t seed = 0;
  // Not owned. nullptr: PosixFiles().
  FileSystem* files = nullptr;
};

// Writes FOLDER/reviews.jsonl (the folder is created if missing), one review per line in the format
// of OpenReviews(). The bytes depend on the options only, on every machine.
//
// There are n users and n items; n is the smallest number with 10 n >= records and n^2 >= records.
// Each review has a different pair of user and item, chosen by a keyed permutation. User u has four
// hidden signs s_k(u), item i four hidden signs t_k(i), each -1 or +1 with equal probability, and
//
//     rating(u, i) = 3 + (s_0 t_0 + s_1 t_1 + s_2 t_2 + s_3 t_3) / 2
//
// which is 1, 2, 3, 4 or 5. A review has 16 to 31 words. Each is, with probability 1/4,
// `tasteKplus` or `tasteKminus` for the sign s_K of its user; with probability 1/4, `traitKplus` or
// `traitKminus` for the sign t_K of its item (K from 0 to 3); else one of `word0` to `word99`. So
// the other reviews of the user and of the item reveal both vectors. Always predicting 3 has a mean
// squared error of about 1; a model that learns comes close to 0.
//
// Throws Error: kInvalidArgument if the file already exists or `records` is out of range; kIo.
void WriteReviews(const std::string& folder, const ReviewsOptions& options = {});

}  // namespace recpack::stand_in
