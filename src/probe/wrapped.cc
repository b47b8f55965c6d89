#include "src/probe/wrapped.h"

#include <algorithm>

namespace recpack {

std::string Wrapped(const std::string& mark, const std::string& text) {
  constexpr size_t kColumns = 100;
  std::string lines, line = mark;
  const std::string indent(mark.size(), ' ');
  for (size_t at = 0; at < text.size();) {
    const size_t space = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, space - at);
    if (line.size() + 1 + word.size() > kColumns && line.size() > indent.size()) {
      lines += line + "\n";
      line = indent;
    }
    line += (line.size() > indent.size() ? " " : "") + word;
    at = space + 1;
  }
  return lines + line + "\n";
}

}  // namespace recpack
