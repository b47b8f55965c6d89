#include "src/remote/url/percent.h"

#include <algorithm>
#include <cstdint>

namespace recpack::remote {
namespace {

bool IsUnreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '~';
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string PercentEncode(std::string_view text, bool keep_slashes) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (IsUnreserved(c) || (c == '/' && keep_slashes)) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<uint8_t>(c);
    encoded += '%';
    encoded += kDigits[byte >> 4];
    encoded += kDigits[byte & 15];
  }
  return encoded;
}

std::string PercentDecode(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '%' && text.size() - i > 2 && HexValue(text[i + 1]) >= 0 &&
                           HexValue(text[i + 2]) >= 0;
    if (!is_escape) {
      decoded += text[i];
      continue;
    }
    decoded += static_cast<char>(HexValue(text[i + 1]) << 4 | HexValue(text[i + 2]));
    i += 2;
  }
  return decoded;
}

std::string FormDecode(std::string text) {
  std::ranges::replace(text, '+', ' ');
  return PercentDecode(text);
}

}  // namespace recpack::remote
