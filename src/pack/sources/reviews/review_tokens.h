// Cuts the text of a review into tokens (docs/format/reviews.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace recpack::pack {

// Whether the byte belongs to a token: a letter, a digit, an apostrophe, or one of 0x80 and above.
bool IsTokenByte(char byte) noexcept;

// ASCII letters in lower case, everything else as it is.
char LowerCase(char byte) noexcept;

// The tokens of one text, which must outlive it. Any bytes. One thread at a time.
class ReviewTokens {
 public:
  explicit ReviewTokens(std::string_view text) : rest_(text) {}

  // The next token, valid until the next call; nothing at the end.
  std::optional<std::string_view> Next();

 private:
  std::string_view rest_;
  std::string token_;
};

}  // namespace recpack::pack
