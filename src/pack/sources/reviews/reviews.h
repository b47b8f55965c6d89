// Source for reviews with ratings in JSON lines (docs/format/reviews.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "src/pack/item/source.h"

namespace recpack::pack {

struct ReviewsOptions {
  // One file, a pattern, or a folder, whose .json, .jsonl and .ndjson files are read in sorted
  // order. Files may be compressed with gzip, zstd, xz or bzip2.
  std::string path = {};

  // Maximum number of tokens in a record for the user's and for the item's reviews each, from 1 to
  // 2^24. Further tokens are dropped.
  uint32_t max_tokens = 512;

  // Size of the vocabulary: the most frequent tokens of the train reviews, from 1 to 2^31. All
  // others become the unknown token.
  uint64_t vocabulary = 50'000;

  // The vocabulary.txt of an earlier pack, to use instead of a new one; empty: none.
  std::string vocabulary_file = {};

  // Seed of the split into train, validation and test.
  uint64_t seed = 0;

  // Folder for a temporary file of tokens, 4 bytes each: "" is $TMPDIR, or /tmp.
  std::string work_folder = {};
};

// Opens reviews: each is an item of "train", "validation" or "test" (80, 10 and 10 per cent by a
// keyed hash of user and item), in the order of files and lines within its split. A record has
// `user_tokens` and `item_tokens` (int64 lists: the tokens of the train reviews by the user and of
// the item, without reviews of this item by this user), `user` and `item` (int64, numbered from 0
// in order of first appearance) and `rating` (float). The vocabulary is a side file.
//
// A line that is not a review is an item of "train" whose Read() throws Error (kCorrupt) with file,
// line and offset.
//
// Memory: 36 bytes a review (44 in train), 16 a user and item, and 4 a distinct token; while
// opening also 8 bytes a review, and about 70 plus the text for each user, item and distinct token.
//
// Throws Error: kNotFound, kIo, kCorrupt if there are no reviews or the vocabulary file is invalid,
// kInvalidArgument for options out of range.
std::unique_ptr<Source> OpenReviews(const ReviewsOptions& options);

// Tells whether `path` has the file extension of JSON lines and its first line is a review.
bool LooksLikeReviews(const std::string& path);

}  // namespace recpack::pack
