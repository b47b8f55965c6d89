#include "src/remote/http/xml.h"

#include <utility>

namespace recpack::remote {
namespace {

std::string ReplaceEntities(std::string_view text) {
  constexpr std::pair<std::string_view, char> kEntities[] = {
      {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
  std::string plain;
  while (!text.empty()) {
    bool found = false;
    for (const auto& [entity, character] : kEntities) {
      if (!text.starts_with(entity)) continue;
      plain += character;
      text.remove_prefix(entity.size());
      found = true;
      break;
    }
    if (found) continue;
    plain += text.front();
    text.remove_prefix(1);
  }
  return plain;
}

}  // namespace

std::vector<std::string_view> Elements(std::string_view xml, std::string_view name) {
  const std::string open = "<" + std::string(name) + ">", close = "</" + std::string(name) + ">";
  std::vector<std::string_view> all;
  for (;;) {
    const size_t begin = xml.find(open);
    if (begin == xml.npos) return all;
    xml.remove_prefix(begin + open.size());
    const size_t end = xml.find(close);
    if (end == xml.npos) return all;
    all.push_back(xml.substr(0, end));
    xml.remove_prefix(end + close.size());
  }
}

std::string FirstElement(std::string_view xml, std::string_view name) {
  const auto all = Elements(xml, name);
  return all.empty() ? "" : ReplaceEntities(all.front());
}

}  // namespace recpack::remote
