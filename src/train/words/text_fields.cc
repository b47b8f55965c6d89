#include "src/train/words/text_fields.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>

#include "recpack/base/text.h"

namespace recpack::train {

bool IsBlank(char byte) { return byte == ' ' || byte == '\t' || byte == '\r'; }

std::string_view WithoutBlanks(std::string_view line) {
  while (!line.empty() && IsBlank(line.back())) line.remove_suffix(1);
  return line;
}

std::string_view TakeLastField(std::string_view& line) {
  line = WithoutBlanks(line);
  size_t begin = line.size();
  while (begin > 0 && !IsBlank(line[begin - 1])) --begin;
  const std::string_view field = line.substr(begin);
  line = line.substr(0, begin);
  return field;
}

size_t CountFields(std::string_view line) {
  size_t count = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    count += !IsBlank(line[i]) && (i == 0 || IsBlank(line[i - 1]));
  }
  return count;
}

std::optional<float> ParseFloat(std::string_view text) {
  float value = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = end == text.data() + text.size();
  // Too small for a float: as good as 0.
  if (error == std::errc::result_out_of_range && whole && text.find("e-") != text.npos) return 0.0F;
  if (error != std::errc() || !whole) return {};
  return value;
}

bool LooksLikeText(std::string_view bytes) {
  const bool control = std::any_of(bytes.begin(), bytes.end(), [](char byte) {
    const auto value = static_cast<uint8_t>(byte);
    return (value < 0x20 && byte != '\n' && !IsBlank(byte)) || value == 0x7f;
  });
  if (control) return false;
  for (size_t cut = 0; cut < std::min<size_t>(4, bytes.size() + 1); ++cut) {
    if (IsUtf8(bytes.substr(0, bytes.size() - cut))) return true;
  }
  return false;
}

}  // namespace recpack::train
