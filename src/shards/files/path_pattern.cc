#include "src/shards/files/path_pattern.h"

#include <fnmatch.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "recpack/base/error.h"
#include "recpack/base/text.h"
#include "src/base/format.h"
#include "src/base/parse_units.h"
#include "src/remote/url/url.h"
#include "src/shards/files/folder_listing.h"

namespace recpack {
namespace {

constexpr uint64_t kMaxNames = 1'000'000;

// Expands "000..012" to words of equal width.
std::vector<std::string> ExpandRange(std::string_view range, const std::string& path) {
  const size_t dots = range.find("..");
  const std::string_view first_text = range.substr(0, dots);
  const auto first = WholeNumber(first_text);
  const auto last = WholeNumber(range.substr(dots + 2));
  if (!first || !last || *last < *first || *last - *first >= kMaxNames) {
    throw Error(ErrorKind::kInvalidArgument,
                format("invalid range {{{}}}: expected {{FIRST..LAST}}", range), {.path = path},
                "write it as {000..012}");
  }
  const size_t width = first_text.size() > 1 && first_text[0] == '0' ? first_text.size() : 0;
  std::vector<std::string> words;
  const uint64_t count = *last - *first + 1;
  words.reserve(count);
  // Counts from 0: a loop up to the last number would not end if it is the largest one.
  for (uint64_t i = 0; i < count; ++i) words.push_back(format("{:0{}}", *first + i, width));
  return words;
}

void ExpandBraces(const std::string& path, std::vector<std::string>& names) {
  const size_t open = path.find('{');
  const size_t close = open == std::string::npos ? open : path.find('}', open);
  if (close == std::string::npos) {
    names.push_back(path);
    return;
  }
  const std::string inside = path.substr(open + 1, close - open - 1);
  const std::vector<std::string> words =
      inside.find("..") != std::string::npos ? ExpandRange(inside, path) : SplitText(inside, ',');
  for (const std::string& word : words) {
    ExpandBraces(path.substr(0, open) + word + path.substr(close + 1), names);
    if (names.size() > kMaxNames) {
      throw Error(ErrorKind::kInvalidArgument, "expands to more than a million names",
                  {.path = path});
    }
  }
}

bool IsGlob(std::string_view text) { return text.find_first_of("*?[") != std::string_view::npos; }

// A query of a web server is no pattern; a store's last name may be one.
void ExpandGlobOfUrl(const std::string& pattern, std::vector<std::string>& names) {
  const size_t slash = pattern.rfind('/');
  const std::string name = pattern.substr(slash + 1);
  if (remote::IsWebUrl(pattern) || !IsGlob(pattern)) return names.push_back(pattern);
  if (IsGlob(pattern.substr(0, slash))) {
    throw Error(ErrorKind::kUnsupported, "has a pattern before its last slash", {.path = pattern},
                "in a store only the last name may be one");
  }
  const size_t before = names.size();
  std::ranges::move(FilesInFolder(pattern.substr(0, slash),
                                  [&](const std::string& file) {
                                    return ::fnmatch(name.c_str(), file.c_str(), 0) == 0;
                                  }),
                    std::back_inserter(names));
  if (names.size() > before) return;
  throw Error(ErrorKind::kNotFound, "matches no object", {.path = pattern});
}

void ExpandGlob(const std::string& pattern, std::vector<std::string>& names) {
  if (remote::IsUrl(pattern)) return ExpandGlobOfUrl(pattern, names);
  if (!IsGlob(pattern) || ::access(pattern.c_str(), F_OK) == 0) {
    names.push_back(pattern);
    return;
  }
  glob_t found = {};
  const int result = ::glob(pattern.c_str(), GLOB_ERR, nullptr, &found);
  std::vector<std::string> matches(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (result == GLOB_NOMATCH) {
    throw Error(ErrorKind::kNotFound, "matches no file", {.path = pattern});
  }
  if (result != 0) {
    throw Error(ErrorKind::kIo, "cannot be expanded: a folder in it cannot be read",
                {.path = pattern});
  }
  std::ranges::sort(matches);
  std::ranges::move(matches, std::back_inserter(names));
}

mode_t FileMode(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode : 0;
}

}  // namespace

std::vector<std::string> ExpandPathPattern(const std::string& path) {
  if (::access(path.c_str(), F_OK) == 0) return {path};
  std::vector<std::string> patterns, names;
  ExpandBraces(path, patterns);
  for (const std::string& pattern : patterns) ExpandGlob(pattern, names);
  std::unordered_set<std::string> seen;
  std::erase_if(names, [&](const std::string& name) { return !seen.insert(name).second; });
  return names;
}

std::vector<std::string> FilesInFolder(const std::string& folder,
                                       const std::function<bool(const std::string&)>& wanted) {
  const FolderTree tree(folder);
  const FolderListing listing = tree.List("");
  std::vector<std::string> paths;
  for (const ListedFile& file : listing.files) {
    const std::string name = listing.names.c_str() + file.name;
    if (wanted(name)) paths.push_back(tree.FullPath(name));
  }
  return paths;
}

bool IsFolder(const std::string& path) { return S_ISDIR(FileMode(path)); }
bool IsFile(const std::string& path) { return S_ISREG(FileMode(path)); }

}  // namespace recpack
