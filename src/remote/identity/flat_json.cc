#include "src/remote/identity/flat_json.h"

namespace recpack::remote {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

std::string_view SkipSpaces(std::string_view text) {
  const size_t begin = text.find_first_not_of(kSpaces);
  return begin == text.npos ? std::string_view() : text.substr(begin);
}

// Reads a string that begins after the quote; false if it does not end.
bool ReadString(std::string_view& text, std::string& value) {
  value.clear();
  while (!text.empty() && text.front() != '"') {
    char c = text.front();
    text.remove_prefix(1);
    if (c == '\\') {
      if (text.empty()) return false;
      c = text.front();
      text.remove_prefix(1);
      constexpr std::string_view kFrom = "bfnrt", kTo = "\b\f\n\r\t";
      if (const size_t at = kFrom.find(c); at != kFrom.npos) c = kTo[at];
      if (c == 'u') {
        value += "\\u";
        continue;
      }
    }
    value += c;
  }
  if (text.empty()) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string JsonText(std::string_view json, std::string_view key) {
  std::string text;
  for (;;) {
    const size_t quote = json.find('"');
    if (quote == json.npos) return {};
    json.remove_prefix(quote + 1);
    if (!ReadString(json, text)) return {};
    std::string_view rest = SkipSpaces(json);
    if (!rest.starts_with(':')) continue;  // a value
    if (text != key) continue;
    rest = SkipSpaces(rest.substr(1));
    if (rest.starts_with('"')) {
      rest.remove_prefix(1);
      return ReadString(rest, text) ? text : "";
    }
    return std::string(rest.substr(0, rest.find_first_of(",}] \t\r\n")));
  }
}

}  // namespace recpack::remote
