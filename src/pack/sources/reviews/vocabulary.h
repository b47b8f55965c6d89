// Which id each token has: vocabulary.txt (docs/format/reviews.md).
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
inline constexpr uint32_t kFirstToken = 2;  // ids from here on are of tokens

// Immutable; any number of threads.
class Vocabulary {
 public:
  // The `most` tokens with the highest counts, above 0; of equal counts those that come first by
  // their bytes. `counts` are by the tokens' numbers.
  Vocabulary(const TextNumbers& tokens, const std::vector<uint64_t>& counts, uint64_t most);

  // Of a file as Text() has it. Throws Error, with path and line: kCorrupt for what is no
  // vocabulary, kNotFound, kIo.
  explicit Vocabulary(const std::string& path);

  // kUnknownToken where it is not in it.
  uint32_t IdOf(std::string_view token) const;

  // A line an id: <pad>, <unk>, then the tokens.
  std::string Text() const;

 private:
  TextNumbers tokens_;  // id - kFirstToken
};

}  // namespace recpack::pack
