#include "src/shards/manifest/name_list.h"

#include <algorithm>
#include <charconv>

#include "src/base/format.h"

namespace recpack {
namespace {

constexpr char kDigits[] = "0123456789";

// Returns the end of the digits that number the shards: those before "-of-", else the last ones.
size_t EndOfNumber(std::string_view name) {
  const size_t of = name.rfind("-of-");
  const size_t last = name.find_last_of(kDigits, of);
  return last == name.npos ? 0 : last + 1;
}

}  // namespace

std::string NameList::Run::Name(size_t i) const {
  if (digits == 0) return before;
  return format("{}{:0{}}{}", before, number + (i - begin), digits, after);
}

NameList::Run NameList::NewRun(std::string_view name, size_t begin) {
  constexpr size_t kMostDigits = 18;  // fits a uint64_t, with room to count up
  const size_t end = EndOfNumber(name);
  const size_t start = end == 0 ? 0 : name.find_last_not_of(kDigits, end - 1) + 1;
  const size_t digits = end - start;
  if (digits == 0 || digits > kMostDigits) {
    return {.before = std::string(name), .after = {}, .begin = begin};
  }
  Run run{.before = std::string(name.substr(0, start)),
          .after = std::string(name.substr(end)),
          .digits = digits,
          .begin = begin};
  std::from_chars(name.data() + start, name.data() + end, run.number);
  return run;
}

NameList::NameList(std::initializer_list<std::string_view> names) {
  for (const auto name : names) push_back(name);
}

NameList::NameList(const std::vector<std::string>& names) {
  for (const auto& name : names) push_back(name);
}

void NameList::push_back(std::string_view name) {
  const bool counts_on =
      !runs_.empty() && runs_.back().digits > 0 && runs_.back().Name(size_) == name;
  if (!counts_on) runs_.push_back(NewRun(name, size_));
  ++size_;
}

std::string NameList::operator[](size_t i) const {
  const auto after = std::ranges::upper_bound(runs_, i, {}, &Run::begin);
  return std::prev(after)->Name(i);
}

std::optional<size_t> NameList::Find(std::string_view name) const {
  const Run alone = NewRun(name, 0);
  for (size_t i = 0; i < runs_.size(); ++i) {
    const Run& run = runs_[i];
    const size_t end = i + 1 < runs_.size() ? runs_[i + 1].begin : size_;
    if (alone.number < run.number || alone.number - run.number >= end - run.begin) continue;
    const size_t at = run.begin + (alone.number - run.number);
    if (run.Name(at) == name) return at;
  }
  return {};
}

}  // namespace recpack
