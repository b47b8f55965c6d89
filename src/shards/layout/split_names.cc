#include "src/shards/layout/split_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>
#include <set>

#include "src/base/format.h"

namespace recpack {
namespace {

constexpr std::array<std::string_view, 12> kSplitWords = {
    "train",      "training", "val",  "valid",   "validation", "eval",
    "evaluation", "dev",      "test", "testing", "holdout",    "minival"};

std::vector<std::string> Words(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (c == '-' || c == '_' || c == '.') {
      words.emplace_back();
    } else {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return words;
}

// Returns the distinct split words in the name.
std::set<std::string> SplitWords(std::string_view name) {
  std::set<std::string> found;
  for (const std::string& word : Words(name)) {
    if (std::ranges::find(kSplitWords, word) != kSplitWords.end()) found.insert(word);
  }
  return found;
}

// Returns where an extension of TFRecord files begins, or npos.
size_t FindShardExtension(std::string_view name) {
  const size_t known = name.find(".tfrecord");
  if (known != name.npos) return known;
  for (const std::string_view extension : {".record", ".tfrec"}) {
    for (size_t at = name.find(extension); at != name.npos; at = name.find(extension, at + 1)) {
      const std::string_view rest = name.substr(at + extension.size());
      if (rest.empty() || rest[0] == '.' || rest[0] == '-') return at;
    }
  }
  return name.npos;
}

// Returns the name without its digits, which the shards of one split have in common.
std::string WithoutNumbers(std::string name) {
  std::erase_if(name, [](unsigned char c) { return std::isdigit(c) != 0; });
  return name;
}

}  // namespace

bool HasShardExtension(std::string_view name) {
  return FindShardExtension(name) != std::string_view::npos;
}

std::optional<NumberedName> ParseNumberedName(const std::string& name) {
  static const std::regex kNumbered(
      "^(.*?)(-append[0-9]+)?[-.]([0-9]{1,18})-of-([0-9]{1,18})([^0-9].*)?$");
  std::smatch match;
  if (!std::regex_match(name, match, kNumbered)) return {};
  return NumberedName{.split = match[1].str(),
                      .siblings = match[1].str() + match[2].str() + "-of-" + match[4].str(),
                      .number = std::stoull(match[3].str()),
                      .count = std::stoull(match[4].str())};
}

std::string InferSplit(const std::string& name) {
  if (const auto numbered = ParseNumberedName(name)) {
    return numbered->split.substr(0, FindShardExtension(numbered->split));
  }
  const std::set<std::string> words = SplitWords(name);
  return words.size() == 1 ? *words.begin() : kUnnamedSplit;
}

std::optional<std::string> UnclearSplits(const std::vector<std::string>& names) {
  std::string unnamed;
  std::string named;
  std::set<std::string> stems;  // of names without a split
  size_t count = 0;
  for (const std::string& name : names) {
    if (InferSplit(name) != kUnnamedSplit) {
      named = name;
      continue;
    }
    ++count;
    if (unnamed.empty()) unnamed = name;
    stems.insert(WithoutNumbers(name));
  }
  constexpr char kWayOut[] =
      "name the files of one split, or a pattern for them, to take only those";
  if (count > 0 && !named.empty()) {
    return format("{} has a split in its name, {} does not and is assigned to the split '{}': {}",
                  named, unnamed, kUnnamedSplit, kWayOut);
  }
  if (stems.size() < 2) return {};
  return format(
      "none of the {} file names contains a split: all are assigned to the split '{}' ({} is "
      "one of them): {}",
      count, kUnnamedSplit, unnamed, kWayOut);
}

}  // namespace recpack
