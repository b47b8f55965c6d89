#include "src/pack/sources/cifar/pickle_text.h"

#include <charconv>

namespace recpack::pack {
namespace {

// Parses the next `digits` characters as a number; nullopt if they are not one.
std::optional<uint32_t> ParseDigits(std::string_view text, size_t digits, int base) {
  if (text.size() < digits) return {};
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value, base);
  if (error != std::errc() || end != text.data() + digits) return {};
  return value;
}

size_t CountOctal(std::string_view text) {
  size_t digits = 0;
  while (digits < 3 && digits < text.size() && text[digits] >= '0' && text[digits] <= '7') {
    ++digits;
  }
  return digits;
}

uint8_t* AppendUtf8(uint32_t point, uint8_t* out) {
  if (point < 0x80) {
    *out++ = static_cast<uint8_t>(point);
    return out;
  }
  const int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  constexpr uint8_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
  *out++ = static_cast<uint8_t>(kLead[more] | point >> (6 * more));
  for (int i = more - 1; i >= 0; --i) {
    *out++ = static_cast<uint8_t>(0x80 | (point >> (6 * i) & 0x3F));
  }
  return out;
}

struct Escape {
  uint8_t byte = 0;
  size_t taken = 0;  // characters after the backslash that were read
};

std::optional<Escape> ParseEscape(std::string_view after) {
  if (after.empty()) return {};
  constexpr std::string_view kLetters = "\\'\"nrtabfv";
  constexpr std::string_view kBytes = "\\'\"\n\r\t\a\b\f\v";
  const size_t letter = kLetters.find(after[0]);
  if (letter != kLetters.npos) return Escape{static_cast<uint8_t>(kBytes[letter]), 1};
  const bool hex = after[0] == 'x';
  const size_t digits = hex ? 2 : CountOctal(after);
  const auto value = ParseDigits(after.substr(hex ? 1 : 0), digits, hex ? 16 : 8);
  if (digits == 0 || !value || *value > 255) return {};
  return Escape{static_cast<uint8_t>(*value), digits + (hex ? 1 : 0)};
}

}  // namespace

std::optional<size_t> DecodeStringLiteral(std::string_view text, uint8_t* out) {
  uint8_t* const start = out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      *out++ = static_cast<uint8_t>(text[i]);
      continue;
    }
    const auto escape = ParseEscape(text.substr(i + 1));
    if (!escape) return {};
    *out++ = escape->byte;
    i += escape->taken;
  }
  return static_cast<size_t>(out - start);
}

std::optional<size_t> DecodeRawUnicodeEscape(std::string_view text, uint8_t* out) {
  uint8_t* const start = out;
  for (size_t i = 0; i < text.size(); ++i) {
    uint32_t point = static_cast<uint8_t>(text[i]);
    const char kind = i + 1 < text.size() ? text[i + 1] : ' ';
    if (point == '\\' && (kind == 'u' || kind == 'U')) {
      const size_t digits = kind == 'u' ? 4 : 8;
      const auto value = ParseDigits(text.substr(i + 2), digits, 16);
      if (!value || *value > 0x10FFFF) return {};
      point = *value;
      i += 1 + digits;
    }
    out = AppendUtf8(point, out);
  }
  return static_cast<size_t>(out - start);
}

std::optional<size_t> EncodeLatin1(ByteView utf8, uint8_t* out) {
  uint8_t* const start = out;
  for (size_t i = 0; i < utf8.size(); ++i) {
    if (utf8[i] < 0x80) {
      *out++ = utf8[i];
      continue;
    }
    // Two bytes, the first of them 110000xx: code points 0x80 to 0xFF.
    if ((utf8[i] != 0xC2 && utf8[i] != 0xC3) || i + 1 == utf8.size()) return {};
    const uint8_t second = utf8[i + 1];
    if ((second & 0xC0) != 0x80) return {};
    *out++ = static_cast<uint8_t>(utf8[i] << 6 | (second & 0x3F));
    ++i;
  }
  return static_cast<size_t>(out - start);
}

std::optional<int64_t> ParseDecimal(std::string_view text) {
  if (text.ends_with('L')) text.remove_suffix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

}  // namespace recpack::pack
