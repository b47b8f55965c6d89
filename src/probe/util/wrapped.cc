#include "src/probe/util/wrapped.h"

#include <algorithm>

namespace recpack::probe {

std::string Printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text;
}

std::string Wrapped(const std::string& mark, const std::string& text) {
  constexpr size_t kColumns = 100;
  const std::string shown = Printable(text);
  std::string lines, line = mark;
  const std::string indent(mark.size(), ' ');
  for (size_t at = 0; at < shown.size();) {
    const size_t space = std::min(shown.find(' ', at), shown.size());
    const std::string word = shown.substr(at, space - at);
    if (line.size() + 1 + word.size() > kColumns && line.size() > indent.size()) {
      lines += line + "\n";
      line = indent;
    }
    line += (line.size() > indent.size() ? " " : "") + word;
    at = space + 1;
  }
  return lines + line + "\n";
}

}  // namespace recpack::probe
