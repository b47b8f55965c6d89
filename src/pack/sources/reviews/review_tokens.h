// Splits the text of a review into tokens (docs/format/reviews.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace recpack::pack {

// Tells whether the byte is part of a token: a letter, digit, apostrophe, or byte from 0x80.
bool IsTokenByte(char byte) noexcept;

// Converts ASCII letters to lower case and leaves other bytes unchanged.
char LowerCase(char byte) noexcept;

// Iterates over the tokens of a text, which must outlive it. Accepts any bytes. Not thread-safe.
class ReviewTokens {
 public:
  explicit ReviewTokens(std::string_view text) : rest_(text) {}

  // Returns the next token, valid until the next call; nullopt at the end.
  std::optional<std::string_view> Next();

 private:
  std::string_view rest_;
  std::string token_;
};

}  // namespace recpack::pack
