// Reviews with ratings, in JSON lines, as a source of items (docs/format/reviews.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "src/pack/item/source.h"

namespace recpack::pack {

struct ReviewsOptions {
  // One file, a pattern of files, or a folder: its .json, .jsonl and .ndjson files in sorted order.
  // All may be compressed with gzip, zstd, xz or bzip2.
  std::string path = {};

  // Tokens of the user's and of the item's reviews in a record at most, each; 1 to 2^24. More are
  // cut off at the end.
  uint32_t max_tokens = 512;

  // So many of the most frequent tokens of the train reviews get an id of their own; 1 to 2^31. All
  // others are the unknown token.
  uint64_t vocabulary = 50'000;

  // The vocabulary.txt of an earlier pack, to use instead of making one; empty: none.
  std::string vocabulary_file = {};

  // Of the split into train, validation and test.
  uint64_t seed = 0;

  // Where the tokens are kept while packing, 4 bytes each: "" is $TMPDIR, or /tmp.
  std::string work_folder = {};
};

// Opens reviews: each is an item of "train", "validation" or "test" (80, 10 and 10 per cent by a
// keyed hash of user and item), in the order of files and lines within its split. A record has
// `user_tokens` and `item_tokens` (int64 lists: the tokens of the train reviews that the user wrote
// and that the item got, without those that this user wrote about this item), `user` and `item`
// (int64, numbered from 0 in order of first appearance) and `rating` (float). The vocabulary is a
// side file.
//
// A line that is no review is an item of "train" whose Read() throws Error (kCorrupt) with file,
// line and offset.
//
// Memory: 36 bytes a review (44 of train), 16 a user and item, and 4 a distinct token; while
// opening also 8 bytes a review, and about 70 and the text for each user, item and distinct token.
//
// Throws Error: kNotFound, kIo, kCorrupt where there is no review at all or the vocabulary file is
// none, kInvalidArgument for options beyond their range.
std::unique_ptr<Source> OpenReviews(const ReviewsOptions& options);

// Whether it is a file that is called as one of JSON lines, and whose first line is a review.
bool LooksLikeReviews(const std::string& path);

}  // namespace recpack::pack
