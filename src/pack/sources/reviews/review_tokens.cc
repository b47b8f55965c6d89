#include "src/pack/sources/reviews/review_tokens.h"

#include <algorithm>

namespace recpack::pack {

bool IsTokenByte(char byte) noexcept {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '\'' || static_cast<unsigned char>(byte) >= 0x80;
}

char LowerCase(char byte) noexcept {
  return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
}

std::optional<std::string_view> ReviewTokens::Next() {
  const auto begin = std::find_if(rest_.begin(), rest_.end(), IsTokenByte);
  const auto end = std::find_if_not(begin, rest_.end(), IsTokenByte);
  if (begin == end) return {};
  token_.resize(static_cast<size_t>(end - begin));
  std::transform(begin, end, token_.begin(), LowerCase);
  rest_.remove_prefix(static_cast<size_t>(end - rest_.begin()));
  return token_;
}

}  // namespace recpack::pack
