#include "src/remote/sign/profile_file.h"

#include "recpack/base/text.h"

namespace recpack::remote {
namespace {

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r";
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

std::string_view SectionName(std::string_view line) {
  constexpr std::string_view kPrefix = "profile ";
  std::string_view name = Trim(line.substr(1, line.find(']') - 1));
  if (name.starts_with(kPrefix)) name = Trim(name.substr(kPrefix.size()));
  return name;
}

}  // namespace

Profile FindProfile(std::string_view text, const std::string& name) {
  Profile profile;
  bool inside = false;
  for (const std::string& line : SplitText(text, '\n')) {
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '[') {
      inside = SectionName(line) == name;
      continue;
    }
    const size_t equals = line.find('=');
    if (!inside || line[0] == ' ' || line[0] == '\t' || equals == line.npos) continue;
    const std::string_view view = line;
    profile[std::string(Trim(view.substr(0, equals)))] = Trim(view.substr(equals + 1));
  }
  return profile;
}

}  // namespace recpack::remote
