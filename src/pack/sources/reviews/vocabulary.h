// Maps tokens to ids; stored as vocabulary.txt (docs/format/reviews.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/pack/item/text_numbers.h"

namespace recpack::pack {

inline constexpr char kVocabularyName[] = "vocabulary.txt";
inline constexpr uint32_t kPaddingToken = 0;
inline constexpr uint32_t kUnknownToken = 1;
inline constexpr uint32_t kFirstToken = 2;  // ids below it are not tokens

// Immutable and thread-safe.
class Vocabulary {
 public:
  // Takes the `most` tokens with the highest nonzero counts; ties are broken by byte order.
  // `counts` are indexed by the tokens' numbers.
  Vocabulary(const TextNumbers& tokens, const std::vector<uint64_t>& counts, uint64_t most);

  // Reads a file written from Text(). Throws Error with path and line: kCorrupt for an invalid
  // vocabulary, kNotFound, kIo.
  explicit Vocabulary(const std::string& path);

  // Returns kUnknownToken for unknown tokens.
  uint32_t Id(std::string_view token) const;

  // One line per id: <pad>, <unk>, then the tokens.
  std::string Text() const;

 private:
  TextNumbers tokens_;  // numbered id - kFirstToken
};

}  // namespace recpack::pack
